package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"unicode"

	"github.com/zeebo/xxh3"
)

// longer writes JSON lines several times: as they are, and then with other words and
// other ids, which repeat nothing but what the lines themselves repeat. So a corpus of
// real text, with its lengths, punctuation and copies, gets long enough to be timed.
func longer(ctx context.Context, args []string, out io.Writer) error {
	fs := flag.NewFlagSet("longer", flag.ContinueOnError)
	times := fs.Int("times", 10, "how many times the lines are written")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if fs.NArg() != 1 {
		return errors.New("longer: give one uncompressed JSONL file")
	}
	w := bufio.NewWriterSize(out, 1<<20)
	for i := range *times {
		if err := otherWords(ctx, w, fs.Arg(0), uint64(i)); err != nil {
			return err
		}
	}
	return w.Flush()
}

func otherWords(ctx context.Context, w io.Writer, path string, turn uint64) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	in, lines := json.NewDecoder(bufio.NewReaderSize(f, 1<<20)), json.NewEncoder(w)
	lines.SetEscapeHTML(false)
	for n := 1; in.More() && ctx.Err() == nil; n++ {
		var line map[string]any
		if err := in.Decode(&line); err != nil {
			return fmt.Errorf("%s: record %d: %w", path, n, err)
		}
		if text, ok := line["text"].(string); ok && turn > 0 {
			line["id"] = fmt.Sprintf("%v-%d", line["id"], turn)
			line["text"] = string(changeWords([]byte(text), turn))
		}
		if err := lines.Encode(line); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// changeWords replaces letters by others of the same script and width, so that a text is
// as long as before: those of a word of ASCII all, those of Han one by one. A word
// becomes the same word wherever it stands.
func changeWords(text []byte, turn uint64) []byte {
	var changed bytes.Buffer
	seed := func(word []byte) uint64 { return xxh3.Hash(word) + turn*0x9e3779b97f4a7c15 }
	for len(text) > 0 {
		n := 0
		for n < len(text) && isASCIILetter(text[n]) {
			n++
		}
		if n > 0 {
			h := seed(text[:n])
			for _, c := range text[:n] {
				h = h*6364136223846793005 + 1442695040888963407
				changed.WriteByte(c&0x20 | 'A' + byte(h>>33%26))
			}
			text = text[n:]
			continue
		}
		r, size, _ := bytes.NewReader(text).ReadRune()
		if unicode.Is(unicode.Han, r) && r >= firstHan && r <= lastHan {
			r = firstHan + rune(seed(text[:size])%(lastHan-firstHan+1))
		}
		changed.WriteRune(r)
		text = text[size:]
	}
	return changed.Bytes()
}

// The block of unified ideographs, in which all take three bytes.
const firstHan, lastHan = 0x4e00, 0x9fa5

func isASCIILetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
