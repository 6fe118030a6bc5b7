package corpus

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/internal/base/charset"
)

// detectedBy is the number of first bytes that decide the detected encoding of a file.
const detectedBy = 64 << 10

// Encoding is the encoding of inputs. They are decoded to UTF-8 after decompression and before
// records are separated. So later stages see only UTF-8, and places count records of the UTF-8
// text. It applies to formats with numbered records. Others decode texts themselves or need no
// decoding. Invalid bytes become [charset.Malformed], and make a record bad.
type Encoding struct {
	given *charset.Stream
	auto  bool // detected for each file
}

// EncodingNamed returns the encoding of --encoding: a name of the WHATWG Encoding Standard, such as
// "gbk", "" for UTF-8, or auto to detect it from the beginning of each file. A byte order mark of
// another encoding overrules a name.
func EncodingNamed(label string) (Encoding, error) {
	label = strings.ToLower(label)
	if label == "auto" {
		return Encoding{auto: true}, nil
	}
	given, err := charset.StreamOf(cmp.Or(label, "utf-8"))
	if err != nil {
		err = fmt.Errorf("--encoding: %w", err)
	}
	return Encoding{given: given}, err
}

// of returns the encoding of an input that starts with head. whole reports that head is the whole
// input, piped that it may be shorter than detectedBy.
func (e Encoding) of(head []byte, whole, piped bool) (*charset.Stream, error) {
	switch {
	case !e.auto:
		return cmp.Or(charset.Marked(head), e.given), nil
	case piped:
		return nil, errors.New("--encoding auto looks at the beginning of a file, and this is a pipe: name the encoding, such as --encoding gbk")
	}
	found, err := charset.Detect(head, whole)
	if err != nil {
		return nil, fmt.Errorf("--encoding auto: %w: name it with --encoding, or convert the file first", err)
	}
	return found, nil
}

// Whole converts a whole text to UTF-8 without a byte order mark.
func (e Encoding) Whole(name string, text []byte) ([]byte, error) {
	d, err := e.of(text, true, false)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if !d.IsUTF8() {
		if text, err = io.ReadAll(d.NewReader(bytes.NewReader(text))); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if bytes.IndexByte(text, charset.Malformed) >= 0 {
			return nil, fmt.Errorf("%s is not valid %s: name its encoding with --encoding", name, d.Name())
		}
	}
	return bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), nil
}

// ReadWhole reads an input as one text, in the encoding given by cfg.
func ReadWhole(in input.Input, cfg SourceConfig) (text []byte, err error) {
	r := cfg.Stdin
	if in.Path != input.Stdin {
		f, err := in.Open()
		if err != nil {
			return nil, err
		}
		defer f.Close() // it was only read
		r = f
	}
	text, err = io.ReadAll(io.LimitReader(r, int64(cfg.MaxRecord)+1))
	if len(text) > cfg.MaxRecord {
		return nil, fmt.Errorf("%s is longer than the limit of %d bytes; allow it with --limit record=SIZE", in.Name, cfg.MaxRecord)
	}
	if err != nil {
		return nil, err
	}
	return cfg.Encoding.Whole(in.Name, text)
}
