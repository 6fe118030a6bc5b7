package gen

import (
	"math/rand/v2"
	"strconv"
	"strings"
)

// The commonest words of each language come first, by Zipf's law. The many rarer ones are made up.
const englishCommon = `the of and to in a is that for it as was with be by on not he his but at are this
have from or had an they which one you were all her she there would their we him been has when who will no more
if out so up said what its about than into them can only other time new some could these two may first then do
any like my now over such our man me even most made after also did many off before must well back through years
where much your way down should because long each just state those people too mr how little good world make very
year still see own work men day get here old life both between being under three never know same last another
while us might great go come since against came right used take states himself few house use during without
again place around however home small found thought went say part once general high upon school every`

const englishLeads0 = `however, |in fact, |for example, |on the other hand, |as a result, |of course, |\"yes\", |meanwhile: |in 3.14 of cases, `

const englishMarks = `,_ ,_ ,_ ,_ ,_ ,_ ._ ._ ._ ._ ._ ;_ :_ ?_ .\n\n .\n\n !_ ,\n`

const chineseCommon = `的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同工也能下过子说产种面而方后多
定行学法所民得经十三之进着等部度家电力里如水化高自二理起小物现实加量都两体制机当使点从业本去把性好应开它合还因由其些然前外天政四日那社义
事平形相全表间样与关各重新线内数正心反你明看原又么利比或但质气第向道命此变条只没结解问意建月公无系军很情者最立代想已通并提直题党程展五果`

const chineseLeads0 = `但是，|因此，|事实上，|另一方面，|据记者了解，|例如：|“是的”，|2024年3.5%的时候，`

const chineseMarks = `， ， ， ， ， ， ， 。 。 。 。 ； ： ？ 。\n 。\n\n ！ 、`

var (
	englishLeads = strings.Split(englishLeads0, "|")
	chineseLeads = strings.Split(chineseLeads0, "|")
)

// englishWords returns the common words, numbers, and made-up words of two or three syllables.
func englishWords(rng *rand.Rand) []string {
	words := strings.Fields(englishCommon)
	for len(words) < vocabulary {
		word := ""
		for range 2 + rng.IntN(2) {
			word += syllable(rng.IntN(64))[:2+rng.IntN(2)]
		}
		switch rng.IntN(50) {
		case 0:
			word = strconv.Itoa(rng.IntN(3000))
		case 1:
			word = "1," + strconv.Itoa(100+rng.IntN(900))
		case 2:
			word += "'s"
		}
		words = append(words, word)
	}
	return words
}

// chineseWords returns single characters, the common ones first, and words of two.
func chineseWords(rng *rand.Rand) []string {
	var words []string
	for _, r := range strings.ReplaceAll(chineseCommon, "\n", "") {
		words = append(words, string(r))
	}
	runes := chineseRunes(rng, 2500)
	for len(words) < vocabulary {
		word := string(runes[rng.IntN(len(runes))]) + string(runes[rng.IntN(len(runes))])
		if rng.IntN(60) == 0 {
			word = strconv.Itoa(rng.IntN(3000))
		}
		words = append(words, word)
	}
	return words
}

// chineseRunes draws n different characters of the main block.
func chineseRunes(rng *rand.Rand, n int) []rune {
	runes := make([]rune, n)
	for i, at := range rng.Perm(0x5000)[:n] {
		runes[i] = rune(0x4e00 + at)
	}
	return runes
}

// syllable returns one of 64 syllables of three letters.
func syllable(i int) string {
	return string([]byte{"bdfgklmnprstvwzh"[i&15], "aeio"[i>>4], "nrslmtdk"[(i*5+i>>4)&7]})
}

// englishRare returns the i-th of 4096 words of eight letters that differ in the first six.
func englishRare(i int) uint64 {
	ending := []string{"ed", "ly", "er", "al", "ic", "en", "um", "is"}[i*7%64/8]
	return pack(syllable(i&63) + syllable(i>>6) + ending)
}
