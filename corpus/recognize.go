package corpus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/firstseen/firstseen/corpus/archive"
	"github.com/firstseen/firstseen/corpus/compress"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/internal/base/lexical"
)

// asArchive is advice for archives that do not have the name of one.
const asArchive = "give it as a file whose name ends in "

// known lists unreadable formats, with advice. Without it such a file becomes many bad records.
var known = []struct {
	magic, name, advice string
	text                bool // it may lack control characters
}{
	{"PAR1", "a Parquet file", "write its rows as JSON lines first", false},
	{"ARROW1", "an Arrow file", "write its rows as JSON lines first", false},
	{"FEA1", "a Feather file", "write its rows as JSON lines first", false},
	{"\xff\xff\xff\xff", "an Arrow stream", "write its rows as JSON lines first", false},
	{"ORC", "an ORC file", "write its rows as JSON lines first", false},
	{"Obj\x01", "an Avro file", "write its rows as JSON lines first", false},
	{"\x89HDF\r\n\x1a\n", "an HDF5 file", "write its rows as JSON lines first", false},
	{"SQLite format 3\x00", "an SQLite database", "write its rows as JSON lines first", false},
	{"\x93NUMPY", "a NumPy array", "write its rows as JSON lines first", false},
	{"%PDF-", "a PDF", "extract its text first", true},
	{"{\\rtf", "an RTF document", "extract its text first", true},
	{"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Office document", "extract its text first", false},
	{"%!PS", "a PostScript file", "extract its text first", true},
	{"\x89PNG\r\n\x1a\n", "a PNG image", "leave it out", false},
	{"\xff\xd8\xff", "a JPEG image", "leave it out", false},
	{"GIF8", "a GIF image", "leave it out", false},
	{"\x7fELF", "a program", "leave it out", false},
	{compress.ZipMagic, "a zip file", asArchive + ".zip", false},
	{"PK\x05\x06", "an empty zip file", "leave it out", false},
	{"7z\xbc\xaf\x27\x1c", "a 7z file", "unpack it first", false},
	{"Rar!\x1a\x07", "a RAR file", "unpack it first", false},
	{"!<arch>\n", "an ar archive", "unpack it first", true},
	{"070701", "a cpio archive", "unpack it first", false},
	{"\x1f\x9d", "compressed with compress", "unpack it first", false},
	{"\x89LZO\x00", "compressed with lzop", "unpack it first", false},
	{"\x5d\x00\x00", "compressed with lzma", "unpack it first", false},
	{"LZIP", "compressed with lzip", "unpack it first", false},
	{"\xff\x06\x00\x00sNaPpY", "compressed with snappy", "unpack it first", false},
}

// isControl reports whether no text contains c. A text may begin with the letters ORC.
func isControl(c rune) bool { return c < '\t' || '\r' < c && c < ' ' && c != '\x1b' }

func otherFormat(head []byte) (name, advice string) {
	if zip := head[:min(len(head), 100)]; bytes.HasPrefix(zip, []byte(compress.ZipMagic)) && (bytes.Contains(zip, []byte("[Content_Types].xml")) || bytes.Contains(zip, []byte("mimetypeapplication/"))) {
		return "an Office document or an e-book", "extract its text first"
	}
	binary := bytes.ContainsFunc(head, isControl)
	for _, k := range known {
		if bytes.HasPrefix(head, []byte(k.magic)) && (binary || k.text) {
			return k.name, k.advice
		}
	}
	const tarAt = 257 // of its magic
	if bytes.HasPrefix(head[min(tarAt, len(head)):], []byte("ustar")) {
		return "a tar archive", asArchive + ".tar, or in .tar.gz or the like"
	}
	return "", ""
}

func otherXML(head []byte) (name, advice string) {
	switch root := lexical.XMLRoot(head); {
	case root == "mediawiki":
		return "a MediaWiki dump (XML)", "write its pages as JSON lines first, as wikiextractor --json does"
	case root != "" && bytes.HasPrefix(bytes.TrimPrefix(head, []byte(lexical.ByteOrderMark)), []byte("<?xml")):
		return fmt.Sprintf("XML (its first element is <%s>)", archive.Printable(root)), "write its records as JSON lines first, or add --format html if it is a page"
	}
	return "", ""
}

// beginsLikeOther reports whether more bytes after head could reveal another format.
func beginsLikeOther(head []byte) bool {
	if compress.Begins(head, "WARC/") || compress.Begins(head, "filedesc:") || compress.Begins(head, "From ") || len(head) > 0 && head[0] == '<' {
		return true
	}
	if array, found := bytes.CutPrefix(head, []byte("[")); found && len(bytes.TrimLeft(array, " \t\r\n")) == 0 {
		return true
	}
	for _, k := range known {
		if len(head) < len(k.magic) && compress.Begins(head, k.magic) {
			return true
		}
	}
	return false
}

// isOpenLine reports whether head begins an object whose first line is incomplete. The rest of the
// line shows whether each object has one line, and a sender that waits for an answer has sent it.
// If records are lines, only the bytes after a lone brace matter.
func isOpenLine(head []byte, lines bool) bool {
	return string(bytes.TrimRight(head, " \t\r\n")) == "{" || !lines && bytes.HasPrefix(head, []byte("{")) && bytes.IndexByte(head, '\n') < 0
}

// undecided reports whether more bytes after head may decide the format of the input. A byte order
// mark alone does not decide between several formats.
func (s *Source) undecided(head []byte) bool {
	if len(s.cfg.Formats) > 0 {
		head = bytes.TrimPrefix(head, []byte(lexical.ByteOrderMark))
	}
	return beginsLikeOther(head) || isOpenLine(head, s.cutter != nil)
}

// arrayHead returns the start of a pipe. It cuts an array after its first { or ], so the decision
// does not depend on how many bytes have arrived.
func arrayHead(head []byte) []byte {
	i := bytes.IndexAny(head, "{]")
	if i < 0 || !bytes.HasPrefix(bytes.TrimPrefix(head, []byte(lexical.ByteOrderMark)), []byte("[")) {
		return head
	}
	return head[:i+1]
}

// formatOf returns the format of the open input, by its first bytes or, if unclear, by its name.
func (s *Source) formatOf(head []byte) (Format, error) {
	if f := s.zippedFormat(); f != nil {
		return f, nil
	}
	if s.live {
		head = arrayHead(head)
	}
	for _, f := range s.cfg.Formats {
		if f.Recognize(head) {
			return f, nil
		}
	}
	name, advice := otherFormat(head)
	if strings.HasPrefix(advice, asArchive) && input.IsArchive(s.name) { // a pipe, or in an archive
		advice = "unpack it first"
	}
	if name == "" && len(s.cfg.Formats) > 0 { // a format named by the user may read XML
		name, advice = otherXML(head)
	}
	// s.format may itself be a known one, such as Parquet.
	if name != "" && compress.CompressionOf(head) == "" && !s.format.Recognize(head) {
		return nil, fmt.Errorf("reading %s: it is %s, which cannot be read: %s", s.name, name, advice)
	}
	if f := s.named(s.name); f != nil {
		return f, nil
	}
	return s.format, nil
}

// named returns the format whose endings match a name, or nil.
func (s *Source) named(name string) Format {
	for _, f := range s.cfg.Formats {
		if slices.Contains(f.Endings(), filepath.Ext(input.UncompressedName(name))) {
			return f
		}
	}
	return nil
}

// zippedFormat returns the format of the first entry with frames, and drops entries of others.
func (s *Source) zippedFormat() Format {
	for _, e := range s.zipped {
		f := s.named(e.Name)
		if f == nil || f.Kind() != ByFrames {
			continue
		}
		s.zipped = slices.DeleteFunc(s.zipped, func(e archive.Member) bool {
			other := s.named(e.Name)
			return other == nil || other.Name() != f.Name()
		})
		return f
	}
	s.zipped = nil
	return nil
}

// choice is an error about the format of a readable input.
type choice struct{ error }

func (c choice) Unwrap() error { return c.error }

// choose sets the format of an input, the same for all inputs. A blank input fits any format.
func (s *Source) choose(f Format, blank bool) error {
	switch {
	case s.chosen == nil || s.vague:
		s.vague = blank
	case blank:
		f = s.chosen
	case s.chosen.Name() != f.Name():
		return choice{fmt.Errorf("reading %s: it is %s, and the inputs before it are %s: give each kind a run of its own, with the same --index; in a folder, --format chooses the kind",
			s.name, f.Name(), s.chosen.Name())}
	}
	if s.cfg.Accept != nil {
		if err := s.cfg.Accept(f); err != nil {
			return choice{err}
		}
	}
	s.chosen, s.cutter = f, f.Cutter()
	return nil
}

// Recognize returns the format of the files among the inputs by their first bytes, or nil if there
// is no file. Two different formats are an error. For unreadable inputs it returns
// [input.Unreadable] together with the format of the others.
func Recognize(inputs []input.Input, format Format, cfg SourceConfig) (Format, error) {
	cfg.Ahead = 0 // reads only the first bytes
	s := NewSource(inputs, format, cfg)
	defer s.Close() // nothing is open, unless there was an error
	var refused input.Unreadable
	for s.index < len(inputs) {
		if in := inputs[s.index]; in.Size < 0 || in.Path == input.Stdin {
			s.index++
			continue
		}
		next, chosen, vague := s.index+1, s.chosen, s.vague
		err := s.closeInput(s.open(context.Background()))
		if c := (choice{}); errors.As(err, &c) {
			return nil, err
		}
		if err != nil {
			refused = append(refused, input.Refused{Name: inputs[next-1].Name, Err: err})
			s.index, s.chosen, s.vague = next, chosen, vague
		}
	}
	if refused != nil {
		return s.chosen, refused
	}
	return s.chosen, nil
}

// Head returns the start of an input that its output repeats. It returns nil if the format has
// none, or if the input is empty. It reads at most a block. If the input has another start it
// returns an error, since no record could be a document.
func Head(ctx context.Context, in input.Input, format Format, cfg SourceConfig) ([]byte, error) {
	if format.Kind() != ByFrames {
		return nil, nil
	}
	if _, has := format.Frames(DefaultMaxRecord).Head(); !has {
		return nil, nil
	}
	cfg.Ahead, cfg.SkipInputs, cfg.SkipTo, cfg.SkipSum = 0, 0, Place{}, 0
	cfg.Formats, cfg.BlockSize = nil, 4<<10 // one row suffices
	s := NewSource([]input.Input{in}, format, cfg)
	defer s.Close() // only read
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	if s.framed == nil { // recognized as another format
		return nil, nil
	}
	var b Block
	defer b.Release()
	frames := s.framed.frames
	if err := s.Next(ctx, &b); err != nil && err != io.EOF {
		return nil, err
	}
	head, _ := frames.Head()
	if head == nil && len(b.Spans) > 0 && b.Spans[0].Bad != "" {
		return nil, fmt.Errorf("reading %s: %s", in.Name, b.Spans[0].Bad)
	}
	return head, nil
}
