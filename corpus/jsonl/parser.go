package jsonl

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/internal/base/lexical"
)

// maxEscape is the maximum length of an escape for one byte.
const maxEscape = len(`\u0061`)

// maxPath is the maximum number of names in a path, and maxTexts that of text fields.
const (
	maxPath  = 32
	maxTexts = 16
)

// parser turns blocks of lines into documents. It reuses its buffers for every document.
type parser struct {
	answers string // field added to every line; "" for none
	lead    []byte // precedes its value
	taken   bool   // the line already has the field

	fields  Fields
	names   []string // of id, time and the texts
	page    *corpus.Texts
	targets []target
	visit   keyFunc
	active  uint // targets whose path leads to the object being read
	level   int  // names matched above the object being read
	twice   int  // a target whose name occurs twice, or -1
	key     []byte
	text    [2][]byte     // found by textLiteral and textPath
	block   *corpus.Block // being parsed
	longest int           // bytes of the longest name or path
	doc     corpus.Document
}

// target is a path to a wanted value.
type target struct {
	path  []string
	seen  uint32 // bit i: path[i] was seen
	value value
}

// Targets for id, time, and the texts from the first on. Of the two for each, the first that leads to
// a value wins.
const (
	idLiteral = iota
	idPath
	timeLiteral
	timePath
	textLiteral
	textPath
)

func newParser(fields Fields, answers string) (*parser, error) {
	fields.Text, fields.ID = cmp.Or(fields.Text, "text"), cmp.Or(fields.ID, "id")
	texts := strings.Split(fields.Text, ",")
	p := &parser{fields: fields, names: append([]string{fields.ID, fields.Time}, texts...), twice: -1}
	p.targets = make([]target, 2*len(p.names))
	p.visit = p.member
	if fields.HTML != "" {
		p.page = corpus.NewTexts(fields.Page)
	}
	for i, name := range texts {
		if name == "" && len(texts) > 1 || slices.Contains(texts[:i], name) || i == maxTexts {
			return nil, fmt.Errorf("text fields %q: give at most %d different names, with commas between them", fields.Text, maxTexts)
		}
	}
	for i, name := range p.names {
		if name == "" {
			continue
		}
		path := strings.Split(name, ".")
		if len(path) > maxPath {
			return nil, fmt.Errorf("field %q: a path may have at most %d names", name, maxPath)
		}
		p.longest = max(p.longest, len(name))
		p.targets[2*i].path = []string{name}
		if len(path) > 1 {
			p.targets[2*i+1].path = path
		}
	}
	if answers != "" {
		p.answers, p.lead = answers, append([]byte{','}, lead(answers)...)
		p.longest = max(p.longest, len(answers))
	}
	return p, nil
}

// Parse returns the documents of a block in order, with blank lines only if all lines are answered.
func (p *parser) Parse(b *corpus.Block) iter.Seq[*corpus.Document] {
	p.block, b.All = b, p.answers != ""
	return b.Documents(&p.doc, func() error {
		if err := p.parse(); err != nil { // the block may be of objects that are not on lines
			return errors.New(strings.ReplaceAll(err.Error(), "the line", "the "+b.Format.Noun()))
		}
		return nil
	})
}

// parse fills p.doc from its Raw, or returns the reason why Raw is no document.
func (p *parser) parse() (err error) {
	raw := p.doc.Raw
	if err := p.scan(raw); err != nil {
		return err
	}
	if p.twice >= 0 {
		return fmt.Errorf("field %q occurs twice", p.names[p.twice/2])
	}
	way := p.found(textLiteral, textPath)
	text := p.targets[way].value
	switch {
	case p.joins():
		text.start = -1 // an id is not the text
		if err := p.join(raw); err != nil {
			return err
		}
	case text.kind != kindString:
		return unfit(p.fields.Text, text.kind, "a string")
	default:
		p.doc.Text = p.text[way-textLiteral]
	}
	id := p.targets[p.found(idLiteral, idPath)].value
	switch {
	case id.start == text.start && len(p.doc.Text) > 0: // same field; no room to decode it twice
		p.doc.ID = p.doc.Text
	case !p.setID(id):
		return unfit(p.fields.ID, id.kind, "a string or a number")
	}
	p.doc.Time = readTime(raw, p.targets[p.found(timeLiteral, timePath)].value)
	if p.answers == "" {
		return nil
	}
	p.doc.Slot, err = p.slot(raw)
	return err
}

// joins reports whether the text is made of several fields or of a page, after the line is scanned.
func (p *parser) joins() bool { return len(p.targets) > textPath+1 || p.page != nil }

// join sets the text of the document. At least one field must have one; others may be missing or null.
func (p *parser) join(raw []byte) (err error) {
	names, found := p.names[textLiteral/2:], missing
	p.block.Join(&p.doc, names, func(dst []byte, i int) []byte {
		switch v := p.targets[p.found(textLiteral+2*i, textPath+2*i)].value; {
		case v.kind == kindString:
			found, dst = v.kind, p.appendText(dst, raw, v, names[i] == p.fields.HTML, &err)
		case v.kind != missing && v.kind != kindNull:
			err = unfit(names[i], v.kind, "a string")
		case found == missing:
			found = v.kind
		}
		return dst
	})
	if err == nil && found != kindString {
		err = unfit(p.fields.Text, found, "a string")
	}
	return err
}

// appendText appends the text of a string to dst, or of the page in it.
func (p *parser) appendText(dst, raw []byte, v value, page bool, err *error) []byte {
	from := len(dst)
	if v.escaped {
		dst, _, _ = decodeString(dst, raw[:v.end+1], v.start)
	} else {
		dst = append(dst, raw[v.start:v.end]...)
	}
	if page {
		var failed error
		if dst, p.doc.Exact, failed = p.page.Append(p.block, dst[:from], dst[from:], "text/html; charset=utf-8"); failed != nil {
			*err = fmt.Errorf("field %q: %w", p.fields.HTML, failed)
		}
		if len(dst) > from {
			dst = bytes.TrimSuffix(dst, newline)
		}
	}
	return dst
}

// slot returns the place for an added field at the end of an object with members. An existing field
// of that name is an error: readers differ in the one they use.
func (p *parser) slot(raw []byte) (corpus.Slot, error) {
	if p.taken {
		return corpus.Slot{}, fmt.Errorf("cannot be annotated: adding field %q: the line already has a field %q", p.answers, p.answers)
	}
	return corpus.Slot{At: bytes.LastIndexByte(raw, '}'), Lead: p.lead}, nil
}

func unfit(field string, k kind, wanted string) error {
	if k == missing || k == kindNull {
		return fmt.Errorf("field %q is %s", field, k)
	}
	return fmt.Errorf("field %q is %s, not %s", field, k, wanted)
}

// found returns the target with a value, or literal if there is none.
func (p *parser) found(literal, path int) int {
	if p.targets[literal].value.kind == missing && p.targets[path].value.kind != missing {
		return path
	}
	return literal
}

// setID sets the document's id. A null id counts as missing.
func (p *parser) setID(id value) bool {
	switch {
	case id.kind == missing || id.kind == kindNull:
	case id.kind == kindString && id.escaped && id.end-id.start <= maxEscape*corpus.MaxID:
		decoded, _, _ := decodeString(p.block.Room(), p.doc.Raw[:id.end+1], id.start)
		p.doc.ID = p.block.Hold(decoded)
	case id.kind == kindString || id.kind == kindNumber:
		p.doc.ID = p.doc.Raw[id.start:id.end]
	default:
		return false
	}
	return true
}

var errNotObject = errors.New("the line is not a JSON object")

// scan checks that the line is a single JSON object, and stores the wanted values in p.targets.
func (p *parser) scan(raw []byte) error {
	p.active, p.level, p.twice, p.taken = 0, 0, -1, false
	for i := range p.targets {
		t := &p.targets[i]
		t.seen, t.value = 0, value{}
		if t.path != nil {
			p.active |= 1 << i
		}
	}
	i := skipSpace(raw, 0)
	var err error
	object := i < len(raw) && raw[i] == '{'
	if object {
		i, err = scanMembers(raw, i, 1, p.visit)
	} else {
		_, i, err = scanValue(raw, i, 0)
	}
	if err != nil {
		return err
	}
	if i = skipSpace(raw, i); i < len(raw) {
		return syntax(i, "something follows the object")
	}
	if !object {
		return errNotObject
	}
	return nil
}

// member handles one key of an object that may be on a path.
func (p *parser) member(b []byte, key value, i, depth int) (int, error) {
	here, below := p.match(b, key)
	if below != 0 && i < len(b) && b[i] == '{' {
		active := p.active
		p.active, p.level = below, p.level+1
		end, err := scanMembers(b, i, depth+1, p.visit)
		p.active, p.level = active, p.level-1
		p.note(here, value{kindObject, false, i, end})
		return end, err
	}
	if here&(1<<textLiteral|1<<textPath) != 0 && !p.joins() && i < len(b) && b[i] == '"' {
		return p.decodeText(b, here, i)
	}
	v, end, err := scanValue(b, i, depth)
	p.note(here, v)
	return end, err
}

func (p *parser) decodeText(b []byte, here uint, i int) (int, error) {
	way := textLiteral
	if here>>textLiteral&1 == 0 {
		way = textPath
	}
	text, end, err := p.readText(b, i+1)
	p.text[way-textLiteral] = text
	p.note(here, value{kindString, true, i + 1, end})
	return end + 1, err
}

// readText returns the string whose content begins at b[i]: part of the line if nothing needs
// decoding, otherwise in the block's memory. For a long line it touches that memory only if needed.
func (p *parser) readText(b []byte, i int) (text []byte, end int, err error) {
	if p.block.Long() {
		end, escaped, err := scanString(b, i)
		if err != nil || !escaped {
			return b[i:end:end], end, err
		}
		b = b[:end+1]
	}
	text, end, err = decodeString(p.block.Room(), b, i)
	if err != nil || len(text) == end-i { // nothing was decoded: decoding shortens
		return b[i:end:end], end, err
	}
	return p.block.Hold(text), end, nil
}

func (p *parser) note(here uint, v value) {
	for t := range p.targets {
		if here>>t&1 != 0 {
			p.targets[t].value = v
		}
	}
}

// match returns the targets whose value has this key, and those whose path continues below it.
func (p *parser) match(b []byte, key value) (here, below uint) {
	name := b[key.start:key.end]
	if key.escaped {
		if len(name) > maxEscape*p.longest {
			return 0, 0
		}
		p.key, _, _ = decodeString(p.key[:0], b[:key.end+1], key.start)
		name = p.key
	}
	p.taken = p.taken || p.level == 0 && string(name) == p.answers
	for i := range p.targets {
		t := &p.targets[i]
		if p.active>>i&1 == 0 || string(name) != t.path[p.level] {
			continue
		}
		if t.seen>>p.level&1 != 0 {
			p.twice = i
		}
		t.seen |= 1 << p.level
		if p.level == len(t.path)-1 {
			here |= 1 << i
		} else {
			below |= 1 << i
		}
	}
	return here, below
}

// readTime returns the time in a string, see [lexical.ParseTime], or in a number of Unix seconds.
func readTime(raw []byte, v value) time.Time {
	switch text := raw[v.start:v.end]; {
	case v.kind == kindString:
		return lexical.ParseTime(text)
	case v.kind == kindNumber && len(text) <= 64:
		seconds, _ := strconv.ParseFloat(string(text), 64) // infinite if too large
		return lexical.UnixTime(seconds)
	}
	return time.Time{}
}
