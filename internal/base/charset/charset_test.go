package charset

import (
	"bytes"
	"compress/gzip"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"

	"github.com/firstseen/firstseen/internal/testing/effort"
)

var texts = map[string]string{
	"en": "The café on the corner of Königstraße was run by Señor Núñez – a naïve, “façade-loving” man of élan. " +
		"He served crème brûlée, smørrebrød and jalapeños to anyone who didn’t ask for the menu.",
	"fr": "L’été dernier, nous avons été reçus à l’hôtel par un garçon très âgé qui préférait les œuvres " +
		"d’art à la cuisine. La forêt était déjà brûlée, mais le château, où l’évêque logeait, restait intact.",
	"de": "Über den Flüssen hängt früh der Nebel. Die Müllerin öffnet die Tür, grüßt den Jäger und schüttet " +
		"das Mehl in große Säcke, während draußen die Vögel über die Dächer fliegen.",
	"cs": "Příliš žluťoučký kůň úpěl ďábelské ódy. Učitelé říkají, že děti dnes čtou méně než dříve, ale " +
		"knihovny jsou přesto plné a večer se v nich svítí až do půlnoci.",
	"pl": "Wczoraj wieczorem poszliśmy nad rzekę, żeby zobaczyć łódki. Każdy z nas miał ze sobą książkę, " +
		"ale nikt nie czytał, bo słońce zachodziło pięknie, a później zrobiło się zimno i wróciliśmy.",
	"tr": "Dün akşam arkadaşlarımla birlikte Boğaz kıyısında yürüdük. Işıklar suya yansıyordu, çocuklar " +
		"gülüşüyor, balıkçılar sessizce oltalarına bakıyordu. Güzel bir gündü, ağaçların altında oturduk.",
	"ru": "Вчера вечером мы долго гуляли по набережной и смотрели, как корабли уходят в море. Капитан одного " +
		"из них помахал нам рукой. Потом пошёл дождь, и все побежали домой, к чаю и тёплой печке.",
	"uk": "Учора ввечері ми довго гуляли набережною і дивилися, як кораблі йдуть у море. Їхній капітан помахав " +
		"нам рукою. Потім пішов дощ, і всі побігли додому, до чаю й теплої печі, бо ще була рання весна.",
	"el": "Χθες το βράδυ περπατήσαμε στην παραλία και κοιτάζαμε τα πλοία που έφευγαν για τα νησιά. Ο καπετάνιος " +
		"μας χαιρέτησε. Ύστερα άρχισε να βρέχει και όλοι έτρεξαν στο σπίτι.",
	"he": "אתמול בערב הלכנו לאורך החוף והסתכלנו על האוניות שיוצאות לים. רב החובל נופף לנו בידו. " +
		"אחר כך התחיל לרדת גשם וכולם רצו הביתה.",
	"ar": "مشينا مساء أمس على شاطئ البحر ونظرنا إلى السفن وهي تغادر الميناء. لوح لنا القبطان بيده، " +
		"ثم بدأ المطر يهطل فعاد الجميع إلى بيوتهم.",
	"th": "เมื่อวานตอนเย็นเราเดินเล่นริมทะเลและมองดูเรือที่กำลังออกจากท่า กัปตันโบกมือให้เรา แล้วฝนก็เริ่มตก ทุกคนจึงวิ่งกลับบ้าน",
	"zh": "昨天傍晚，我们沿着江边散步，看着轮船慢慢开往大海。船长向我们挥了挥手。后来下起了雨，大家都跑回家去了，" +
		"喝着热茶，说起小时候的事情。北京的冬天很冷，可是屋子里很暖和。",
	"tw": "昨天傍晚，我們沿著江邊散步，看著輪船慢慢開往大海。船長向我們揮了揮手。後來下起了雨，大家都跑回家去了，" +
		"喝著熱茶，說起小時候的事情。臺北的冬天很冷，可是屋子裡很暖和。",
	"ja": "昨日の夕方、私たちは川沿いを散歩しながら、船がゆっくりと海へ出ていくのを見ていました。船長が手を振ってくれました。" +
		"そのあと雨が降り出したので、みんな家に走って帰り、熱いお茶を飲みながらラジオを聞きました。",
	"ko": "어제 저녁 우리는 강가를 걸으면서 배들이 천천히 바다로 나가는 것을 보았습니다. 선장이 우리에게 손을 흔들어 주었습니다. " +
		"그 뒤에 비가 내리기 시작해서 모두 집으로 뛰어가 따뜻한 차를 마셨습니다.",
}

// encodings lists the encodings to try each text in.
var encodings = []struct {
	text, name string
	as         encoding.Encoding // nil: the one with that name
}{
	{"en", "utf-8", nil},
	{"fr", "windows-1252", nil},
	{"de", "windows-1252", nil},
	{"en", "windows-1252", nil},
	{"de", "windows-1252", charmap.ISO8859_1},
	{"cs", "windows-1250", nil},
	{"cs", "iso-8859-2", nil},
	{"pl", "windows-1250", nil},
	{"pl", "iso-8859-2", nil},
	{"tr", "windows-1254", nil},
	{"ru", "windows-1251", nil},
	{"ru", "koi8-r", nil},
	{"ru", "iso-8859-5", nil},
	{"ru", "ibm866", nil},
	{"ru", "x-mac-cyrillic", nil},
	{"uk", "windows-1251", nil},
	{"uk", "koi8-u", nil},
	{"el", "windows-1253", nil},
	{"el", "iso-8859-7", nil},
	{"he", "windows-1255", nil},
	{"ar", "windows-1256", nil},
	{"ar", "iso-8859-6", nil},
	{"th", "windows-874", nil},
	{"zh", "gb18030", nil},
	{"zh", "gb18030", simplifiedchinese.GBK},
	{"tw", "gb18030", nil},
	{"tw", "big5", nil},
	{"ja", "shift_jis", nil},
	{"ja", "euc-jp", nil},
	{"ja", "iso-2022-jp", nil},
	{"ko", "euc-kr", nil},
	{"zh", "utf-8", nil},
	{"ru", "utf-8", nil},
	{"zh", "utf-16le", unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)},
	{"ru", "utf-16be", unicode.UTF16(unicode.BigEndian, unicode.UseBOM)},
	{"en", "utf-16le", byName["utf-16le"]},
	{"ru", "utf-16be", byName["utf-16be"]},
	{"ko", "utf-16le", byName["utf-16le"]},
	{"ja", "utf-32le", utf32.UTF32(utf32.LittleEndian, utf32.UseBOM)},
	{"en", "utf-32be", byName["utf-32be"]},
	{"zh", "utf-8", unicode.UTF8BOM},
}

func page(text, head string) string {
	return "<!DOCTYPE html>\n<html><head>" + head + "<title>T</title></head>\n<body>\n<p>" + text + "</p>\n</body></html>\n"
}

// encode encodes text without the characters that e lacks. It also returns that reduced text.
func encode(t *testing.T, text string, e encoding.Encoding) (encoded []byte, same string) {
	t.Helper()
	var s strings.Builder
	for _, r := range text {
		if _, err := e.NewEncoder().String(string(r)); err != nil {
			continue
		}
		s.WriteRune(r)
	}
	encoded, err := e.NewEncoder().Bytes([]byte(s.String()))
	if err != nil {
		t.Fatal(err)
	}
	return encoded, s.String()
}

// TestSameTextInEveryEncoding declares each encoding in the header, in the page, or nowhere.
func TestSameTextInEveryEncoding(t *testing.T) {
	for _, c := range encodings {
		e := c.as
		if e == nil {
			var err error
			if e, err = htmlindex.Get(c.name); err != nil {
				t.Fatal(err)
			}
		}
		wide := isWide(c.name)
		for _, declared := range []struct{ kind, head, contentType string }{
			{"nowhere", "", ""},
			{"header", "", "text/html; charset=" + c.name},
			{"header in capitals", "", `Text/HTML;Charset="` + strings.ToUpper(c.name) + `"`},
			{"meta", `<meta charset="` + c.name + `">`, "text/html"},
			{"old meta", `<META HTTP-EQUIV=Content-Type CONTENT='text/html; charset=` + c.name + `'>`, "text/html; charset=ISO-8859-1"},
		} {
			encoded, want := encode(t, page(texts[c.text], declared.head), e)
			text, name, err := Decode([]byte("before"), encoded, declared.contentType)
			if err != nil || string(text) != "before"+want {
				t.Errorf("%s in %s, declared %s: %q, %v\n%.300s", c.text, c.name, declared.kind, name, err, text)
			} else if wide && name != c.name || declared.kind != "nowhere" && !wide && name != c.name && name != "utf-8" {
				t.Errorf("%s in %s, declared %s: taken for %s", c.text, c.name, declared.kind, name)
			}
		}
	}
}

func encoded(t *testing.T, text, name string) string {
	t.Helper()
	e, err := htmlindex.Get(name)
	if err != nil {
		t.Fatal(err)
	}
	b, err := encoding.ReplaceUnsupported(e.NewEncoder()).String(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestOrderOfTrust checks which source wins when declarations and bytes contradict each other.
func TestOrderOfTrust(t *testing.T) {
	gbk, russian := encoded(t, texts["zh"], "gbk"), encoded(t, texts["ru"], "windows-1251")
	koi := encoded(t, texts["ru"], "koi8-r")
	for _, c := range []struct{ what, body, contentType, want string }{
		{"a header's latin-1 beside a meta's gbk", page(gbk, "<meta charset=gbk>"), "text/html; charset=iso-8859-1", "gb18030"},
		{"a header's latin-2 beside a meta's gbk", page(gbk, "<meta charset=gb2312>"), "text/html; charset=iso-8859-2", "gb18030"},
		{"a header's utf-8 on gbk", page(gbk, ""), "text/html; charset=utf-8", "gb18030"},
		{"a header's latin-1 on windows-1251", page(russian, ""), "text/html; charset=iso-8859-1", "windows-1251"},
		{"a meta's windows-1252 on koi8-r", page(koi, "<meta charset=windows-1252>"), "", "koi8-r"},
		{"a mark beside a header", "\uFEFF" + texts["zh"], "text/html; charset=gbk", "utf-8"},
		{"UTF-8 that is declared gbk", page(texts["zh"], "<meta charset=gbk>"), "text/html; charset=gbk", "utf-8"},
		{"a declared single-byte encoding", page(encoded(t, "Łódź", "iso-8859-2"), ""), "text/html; charset=iso-8859-2", "iso-8859-2"},
		{"the header's before the meta's", page(encoded(t, "Łódź", "iso-8859-2"), "<meta charset=windows-1251>"), "text/html; charset=iso-8859-2", "iso-8859-2"},
		{"a meta in a comment", page(gbk, "<!-- <meta charset=koi8-r> -->"), "", "gb18030"},
		{"a meta's utf-16", page(gbk, "<meta charset=utf-16>"), "", "gb18030"},
		{"a declaration of XML", `<?xml version="1.0" encoding="koi8-r"?><p>` + koi + "</p>", "", "koi8-r"},
		{"an encoding that nobody knows", page(gbk, "<meta charset=x-none>"), "text/html; charset=nonsense", "gb18030"},
		{"a header that is no media type", gbk, "text/html; charset=gbk; charset", "gb18030"},
		{"one accented letter", "caf\xe9 au lait, twice a day", "", "windows-1252"},
		{"ASCII", "plain", "text/html; charset=gbk", "utf-8"},
		{"nothing", "", "", "utf-8"},
		{"hz", "~{<:Ky2;VpSZHK~} ok", "text/html; charset=hz-gb-2312", "hz-gb-2312"},
	} {
		text, name, err := Decode(nil, []byte(c.body), c.contentType)
		if err != nil || name != c.want || !utf8.Valid(text) {
			t.Errorf("%s: %q, %v, want %q", c.what, name, err, c.want)
		}
	}
}

// TestFaults checks that one lost byte in a long text costs one character, and many cost the text.
// A character cut off at the end costs nothing.
func TestFaults(t *testing.T) {
	long := strings.Repeat(texts["zh"]+"\n", 100)
	for _, name := range []string{"gb18030", "utf-8"} {
		body := encoded(t, long, name)
		at := strings.IndexByte(body[len(body)/2:], '\n') + len(body)/2 + 1
		for what, c := range map[string]struct {
			body string
			ok   bool
		}{
			"a bad byte":       {body[:at] + "\xff" + body[at:], true},
			"an end cut off":   {body[:len(body)-2], true},
			"bad bytes galore": {strings.ReplaceAll(body, "\n", "\xff\xff\xff\xff\xff\xff"), false},
		} {
			text, got, err := Decode(nil, []byte(c.body), "text/html; charset="+name)
			if (err == nil) != c.ok || c.ok && got != name {
				t.Errorf("%s, %s: %q, %v, %.60q", name, what, got, err, text)
			}
		}
	}
}

// TestBinary checks that data other than text is an error, declared or not, and leaves dst alone.
func TestBinary(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	noise := make([]byte, 20_000)
	for i := range noise {
		noise[i] = byte(rng.Uint32())
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write(noise)
	_ = z.Close()
	high := make([]byte, 4000)
	for i := range high {
		high[i] = 0x80 | byte(rng.Uint32())
	}
	for what, body := range map[string][]byte{
		"noise": noise, "gzip": packed.Bytes(), "high bytes": high,
		"png":              []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x01\x00\x00\x00\x01\x00\x08\x06\x00\x00\x00"),
		"a mark and noise": append([]byte("\xff\xfe"), noise...),
		"zeros":            make([]byte, 1000),
		"two encodings":    []byte(strings.Repeat(texts["zh"]+encoded(t, texts["tw"], "big5"), 4)),
		"two others":       []byte(strings.Repeat(encoded(t, texts["zh"], "gbk")+encoded(t, texts["ru"], "koi8-r"), 4)),
	} {
		for _, contentType := range []string{"", "text/html; charset=utf-8", "text/html; charset=gbk", "text/html; charset=windows-1252"} {
			text, name, err := Decode([]byte("before"), body, contentType)
			if err == nil || name != "" || string(text) != "before" {
				t.Errorf("%s as %q: taken for %s, %.60q", what, contentType, name, text)
			}
		}
	}
}

// TestSigns checks that a text may have many signs, but no more than its words would. Beyond that
// they are halves of letters from an unknown encoding.
func TestSigns(t *testing.T) {
	for what, c := range map[string]struct{ body, name string }{
		"quotes":              {encoded(t, strings.Repeat("“Yes,” said he. “No!” – “Oh…” ", 20), "windows-1252"), "windows-1252"},
		"spaces":              {"<p>" + strings.Repeat("\xa0", 30) + strings.Repeat(" some words of English", 20), "windows-1252"},
		"prices":              {encoded(t, strings.Repeat("A room for one is 120€, for two 200 €.\n", 20), "windows-1252"), "windows-1252"},
		"Russian in Japanese": {page(encoded(t, texts["ru"], "shift_jis"), ""), ""},
	} {
		text, name, err := Decode(nil, []byte(c.body), "text/html")
		if name != c.name || (err == nil) != (c.name != "") {
			t.Errorf("%s: taken for %q, %v: %.80q", what, name, err, text)
		}
	}
}

// TestLongBodies checks that the work grows linearly with the body.
func TestLongBodies(t *testing.T) {
	gbk, russian := encoded(t, texts["zh"], "gbk"), encoded(t, texts["ru"], "koi8-r")
	for what, piece := range map[string]string{
		"gbk": gbk, "koi8-r": russian, "lead bytes": "\x81", "two encodings": gbk + russian, "escapes": "\x1b$B", "escapes of gbk": "\x1b$B" + gbk,
		"meta": "<meta charset=gbk \xff", "comments": "<!--\xff", "charsets": "charset \xff", "zeros": "\x00a", "a mark": "\xff\xfe", "gb18030 of four": "\x81\x30\x81",
		"accents": "caf\xe9 ", "sequences": "\xe4\xb8\xad\xff",
	} {
		effort.Linear(t, what, 1<<15, func(n int) func() {
			body := []byte(strings.Repeat(piece, n/len(piece)))
			return func() { _, _, _ = Decode(nil, body, "text/html; charset=big5") }
		})
	}
}

// TestLanguagesHaveEncodings checks that each language has an encoding and an alphabet.
func TestLanguagesHaveEncodings(t *testing.T) {
	for _, l := range languages {
		if singles[l.name] == nil {
			t.Errorf("%s is no single-byte encoding", l.name)
		}
		for code := range strings.FieldsSeq(l.codes) {
			if alphabets[code] == "" {
				t.Errorf("%s has no letters", code)
			}
		}
	}
}

// FuzzDecode checks that the text is valid UTF-8 of bounded size. Valid UTF-8 stays as it was.
func FuzzDecode(f *testing.F) {
	for _, c := range encodings {
		if e, err := htmlindex.Get(c.name); err == nil {
			b, _ := encoding.ReplaceUnsupported(e.NewEncoder()).String(texts[c.text])
			f.Add([]byte(b), "")
			f.Add([]byte(page(b, "<meta charset="+c.name+">")), "text/html; charset="+c.name)
		}
	}
	f.Add([]byte("\x1b$B$3$s\x1b(B"), "text/html")
	f.Add([]byte("<?xml encoding="), "charset=")
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		text, name, err := Decode([]byte("x"), body, contentType)
		switch {
		case err != nil && (name != "" || string(text) != "x"):
			t.Errorf("%v, and %q, %q", err, name, text)
		case err == nil && (!utf8.Valid(text) || text[0] != 'x' || name == ""):
			t.Errorf("%q: %q", name, text)
		case len(text) > 1+3*len(body):
			t.Errorf("%d bytes of %d", len(text), len(body))
		}
		if err == nil && name == "utf-8" && utf8.Valid(body) && !bytes.HasSuffix(body, text[1:]) {
			t.Errorf("%q became %q", body, text)
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	for _, c := range []struct{ text, name string }{{"en", "utf-8"}, {"ru", "windows-1251"}, {"zh", "gb18030"}, {"ja", "shift_jis"}} {
		e, _ := htmlindex.Get(c.name)
		body, _ := encoding.ReplaceUnsupported(e.NewEncoder()).Bytes([]byte(strings.Repeat(page(texts[c.text], ""), 100)))
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			var dst []byte
			for b.Loop() {
				var err error
				if dst, _, err = Decode(dst[:0], body, ""); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestCutAndControls checks that a character cut off by the end is no fault. One cut off in the
// middle is, and so are control characters in a single-byte encoding.
func TestCutAndControls(t *testing.T) {
	half := []byte("\xd6\xd0\xce\xc4\xd6\xd0\xce\xc4, \xd6\xd0\xce\xc4.\xd6")
	if text, name, err := Decode(nil, half, "text/html; charset=gbk"); name != "gb18030" || !strings.HasPrefix(string(text), "中文中文, 中文.") || err != nil {
		t.Errorf("cut off: %q in %s, %v", text, name, err)
	}
	if _, name := decodeDeclared(nil, append(half, ' ', '.'), []string{"gb18030"}); name != "" {
		t.Errorf("cut in the middle: %s", name)
	}
	cyrillic := []byte("\xbf\xe0\xd8\xd2\xd5\xe2, \xdc\xd8\xe0")
	if text, name := decodeDeclared(nil, cyrillic, []string{"iso-8859-5"}); name != "iso-8859-5" || string(text) != "Привет, мир" {
		t.Errorf("%q in %s", text, name)
	}
	if _, name := decodeDeclared(nil, append(cyrillic, 0x85, 0x9f), []string{"iso-8859-5"}); name != "" {
		t.Errorf("with control characters: %s", name)
	}
}
