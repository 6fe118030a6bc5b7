package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/page"
	"github.com/firstseen/firstseen/internal/charset"
)

// encodingFlag is the encoding of text inputs without a byte order mark: a name, or auto.
type encodingFlag string

func (f *encodingFlag) register(fs *pflag.FlagSet) {
	fs.StringVar((*string)(f), "encoding", "utf-8", "of lines, arrays and tables without a byte order mark: gbk, utf-16le, big5, windows-1251 and so on, or auto, by the beginning of each file; outputs are UTF-8")
}

// detectedBy is how many bytes of a file decide its detected encoding.
const detectedBy = 64 << 10

func (f encodingFlag) encoding() (corpus.Encoding, error) {
	label := strings.ToLower(string(f))
	if label == "auto" {
		return corpus.Encoding{Sample: detectedBy, Of: detected}, nil
	}
	if label == "" {
		label = "utf-8"
	}
	given, err := charset.StreamOf(label)
	if err != nil {
		return corpus.Encoding{}, fmt.Errorf("--encoding: %w", err)
	}
	return corpus.Encoding{Of: func(head []byte, _, _ bool) (corpus.Decoding, error) {
		if marked := charset.Marked(head); marked != nil {
			return decoding(marked), nil
		}
		return decoding(given), nil
	}}, nil
}

func detected(head []byte, whole, piped bool) (corpus.Decoding, error) {
	if piped {
		return corpus.Decoding{}, errors.New("--encoding auto looks at the beginning of a file, and this is a pipe: name the encoding, such as --encoding gbk")
	}
	found, err := charset.Detect(head, whole)
	if err != nil {
		return corpus.Decoding{}, fmt.Errorf("--encoding auto: %w: name it with --encoding, or convert the file first", err)
	}
	return decoding(found), nil
}

func decoding(s *charset.Stream) corpus.Decoding {
	if s.IsUTF8() {
		return corpus.Decoding{}
	}
	return corpus.Decoding{Name: s.Name(), Reader: s.NewReader}
}

// wholeText makes UTF-8, without a byte order mark, of a text that was read from its beginning
// to its end.
func wholeText(name string, text []byte, e corpus.Encoding) ([]byte, error) {
	d, err := e.Of(text, true, false)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if d.Reader != nil {
		if text, err = io.ReadAll(d.Reader(bytes.NewReader(text))); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if bytes.IndexByte(text, corpus.Malformed) >= 0 {
			return nil, fmt.Errorf("%s is not valid %s: name the encoding that it is in with --encoding", name, d.Name)
		}
	}
	return bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), nil
}

// given reports whether the flag names an encoding other than UTF-8.
func (f encodingFlag) given() bool { return f != "" && strings.ToLower(string(f)) != "utf-8" }

// check refuses the flag for formats that find encodings themselves, or have none.
func (f encodingFlag) check(found corpus.Format) error {
	if !f.given() || corpus.Decodes(found) {
		return nil
	}
	why := "which say themselves in which encoding they are"
	if p, ok := found.(page.Format); ok && !p.HTML {
		why = "whose encoding is detected"
	}
	return fmt.Errorf("--encoding %s is for lines, paragraphs, arrays and tables; the inputs are %s, %s: leave it out", f, found.Name(), why)
}
