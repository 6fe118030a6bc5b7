package corpus

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
)

// Fields names the fields of a JSON object that make a document.
//
// A name with dots, such as "metadata.url", is a path through nested objects,
// unless the object has a field of that very name, which wins.
type Fields struct {
	Text string // "" means "text"
	ID   string // "" means "id"
}

// keepText is the length of a line, in bytes, above which ParseLine keeps no
// buffer for its text: one huge document must not hold its memory for ever. Parse
// keeps up to a chunk, and has the text of a long line in the chunk.
const keepText = defaultChunk

// maxID is the longest id in bytes. Tables and reports hold ids, and the
// documents between two checkpoints theirs in memory.
const maxID = 64 << 10

// maxEscape is how many bytes a byte of a string can be written as.
const maxEscape = len(`\u0061`)

// maxPath is how many names a path may have.
const maxPath = 32

// Parser turns chunks of JSON lines into records. It is for one goroutine;
// its buffers are used again for every record.
type Parser struct {
	// KeepBlank hands out lines of nothing but white space as records that
	// are Blank, for whoever answers every line.
	KeepBlank bool

	fields  Fields
	targets []target
	visit   keyFunc
	active  uint // targets whose path leads to the object being read
	level   int  // names of a path matched above the object being read
	twice   int  // a target with a name that occurs twice, or -1
	key     []byte
	text    [2][]byte // what textLiteral and textPath led to
	buf     [2][]byte // for text, used again
	long    *Chunk    // what is parsed, if it is one long line
	longest int       // bytes of the longest name in a path
	rec     Record
}

// target is one way to a wanted value.
type target struct {
	path  []string
	seen  uint32 // bit i: path[i] was met
	value value
}

// textTargets and the rest are the ways to the text; the first that leads to
// a value is taken. Behind them are those to the id.
const (
	textLiteral = iota
	textPath
	idLiteral
	idPath
	targetCount
)

// NewParser returns a parser for the fields. It fails when a path is longer
// than 32 names.
func NewParser(fields Fields) (*Parser, error) {
	if fields.Text == "" {
		fields.Text = "text"
	}
	if fields.ID == "" {
		fields.ID = "id"
	}
	p := &Parser{fields: fields, targets: make([]target, targetCount), twice: -1}
	p.visit = p.member
	for i, name := range []string{fields.Text, fields.ID} {
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
	return p, nil
}

// Parse returns the records of a chunk in the order of its lines. Lines of
// nothing but white space are passed over, unless KeepBlank is set.
//
// The record and its Text are valid until the next record, the Text of a long
// line as long as its ID. ID and Raw, and the whole of Err, are valid until the
// chunk is filled again, parsed again or released.
func (p *Parser) Parse(c *Chunk) iter.Seq[*Record] {
	return func(yield func(*Record) bool) {
		c.ids = c.ids[:0]
		if p.long = nil; c.Long() {
			p.long = c
		}
		line := c.Line
		for rest := c.Data; len(rest) > 0; line++ {
			raw, more, _ := bytes.Cut(rest, newline)
			rest = more
			p.rec = Record{File: c.File, Line: line, Raw: raw}
			switch {
			case blank(raw, c.Reject):
				if !p.KeepBlank {
					continue
				}
				p.rec.Blank = true
			case c.Reject != "":
				p.bad(c.Reject)
			default:
				c.ids = p.parse(c.ids)
			}
			if !yield(&p.rec) {
				return
			}
		}
	}
}

// blank tells whether a line is passed over. Of a line rejected for its length
// only the head is known, so that being white space means nothing.
func blank(raw []byte, reject string) bool {
	return len(raw) == 0 || reject == "" && skipSpace(raw, 0) == len(raw)
}

var newline = []byte{'\n'}

// ParseLine reads a single line, which must not end in '\n'. The record is
// valid until the next call of a method of p.
func (p *Parser) ParseLine(file string, line int64, raw []byte) *Record {
	p.rec = Record{File: file, Line: line, Raw: raw}
	p.long = nil
	p.parse(nil)
	return &p.rec
}

func (p *Parser) bad(reason string) {
	p.rec.ID, p.rec.Text = nil, nil
	p.rec.Err = &BadRecord{File: p.rec.File, Line: p.rec.Line, Reason: reason, Raw: p.rec.Raw}
}

// parse fills p.rec from its Raw. An id that is not in the line as it is goes
// to the end of ids, which is returned.
func (p *Parser) parse(ids []byte) []byte {
	raw := p.rec.Raw
	if err := p.scan(raw); err != nil {
		p.bad(err.Error())
		return ids
	}
	if p.twice >= 0 {
		p.bad(fmt.Sprintf("field %q occurs twice", p.fieldOf(p.twice)))
		return ids
	}
	way := p.found(textLiteral, textPath)
	text := p.targets[way].value
	if text.kind != kindString {
		p.bad(p.unfit(p.fields.Text, text.kind, "a string"))
		return ids
	}
	id := p.targets[p.found(idLiteral, idPath)].value
	ids, ok := p.setID(ids, id)
	switch {
	case !ok:
		p.bad(p.unfit(p.fields.ID, id.kind, "a string or a number"))
		return ids
	case len(p.rec.ID) > maxID:
		p.bad(fmt.Sprintf("field %q is longer than %d bytes", p.fields.ID, maxID))
		return ids
	}
	p.rec.Text = p.text[way]
	return ids
}

func (p *Parser) fieldOf(target int) string {
	if target < idLiteral {
		return p.fields.Text
	}
	return p.fields.ID
}

func (p *Parser) unfit(field string, k kind, wanted string) string {
	if k == missing || k == kindNull {
		return fmt.Sprintf("field %q is %s", field, k)
	}
	return fmt.Sprintf("field %q is %s, not %s", field, k, wanted)
}

// found returns the way that led to a value, the first if none did.
func (p *Parser) found(literal, path int) int {
	if p.targets[literal].value.kind == missing && p.targets[path].value.kind != missing {
		return path
	}
	return literal
}

// setID sets the record's id. A null or empty id names nothing and counts as
// none.
func (p *Parser) setID(ids []byte, id value) ([]byte, bool) {
	at := len(ids)
	switch {
	case id.kind == missing || id.kind == kindNull || id.kind == kindString && id.start == id.end:
		ids = append(append(ids, p.rec.File...), ':')
		ids = strconv.AppendInt(ids, p.rec.Line, 10)
	case id.kind == kindString && id.escaped && id.end-id.start <= maxEscape*maxID:
		ids, _, _ = decodeString(ids, p.rec.Raw[:id.end+1], id.start)
	case id.kind == kindString || id.kind == kindNumber:
		p.rec.ID = p.rec.Raw[id.start:id.end]
		return ids, true
	default:
		return ids, false
	}
	p.rec.ID = ids[at:len(ids):len(ids)]
	return ids, true
}

var errNotObject = errors.New("the line is not a JSON object")

// scan checks the line and notes the wanted values in p.targets.
func (p *Parser) scan(raw []byte) error {
	p.active, p.level, p.twice = 0, 0, -1
	for i := range p.targets {
		t := &p.targets[i]
		t.seen, t.value = 0, value{}
		if t.path != nil {
			p.active |= 1 << i
		}
	}
	return scanLine(raw, p.visit)
}

// scanLine checks that a line is one JSON object with nothing behind it.
func scanLine(raw []byte, visit keyFunc) error {
	i := skipSpace(raw, 0)
	var err error
	object := i < len(raw) && raw[i] == '{'
	if object {
		i, err = scanObject(raw, i, 1, visit)
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

// member handles one key of an object that a path may lead through.
func (p *Parser) member(b []byte, key value, i, depth int) (int, error) {
	here, below := p.match(b, key)
	if below != 0 && i < len(b) && b[i] == '{' {
		active := p.active
		p.active, p.level = below, p.level+1
		end, err := scanObject(b, i, depth+1, p.visit)
		p.active, p.level = active, p.level-1
		p.note(here, value{kindObject, false, i, end})
		return end, err
	}
	if here&(1<<textLiteral|1<<textPath) != 0 && i < len(b) && b[i] == '"' {
		return p.decodeText(b, here, i)
	}
	v, end, err := scanValue(b, i, depth)
	p.note(here, v)
	return end, err
}

func (p *Parser) decodeText(b []byte, here uint, i int) (int, error) {
	way := textLiteral
	if here>>textLiteral&1 == 0 {
		way = textPath
	}
	text, end, err := p.readText(way, b, i+1)
	p.text[way] = text
	p.note(here, value{kindString, true, i + 1, end})
	return end + 1, err
}

// readText returns the content of the string whose first byte after the quote
// is b[i]. A long text that needs no unescaping is not copied, and of its memory
// none is kept.
func (p *Parser) readText(way int, b []byte, i int) (text []byte, end int, err error) {
	if p.long == nil && len(b) <= keepText {
		text, end, err = decodeString(p.buf[way][:0], b, i)
		p.buf[way] = text
		return text, end, err
	}
	end, escaped, err := scanString(b, i)
	if err != nil || !escaped {
		return b[i:end:end], end, err
	}
	var room []byte
	if p.long != nil {
		room = p.long.text[way].hold(nil, end-i+16)
	}
	return decodeString(room, b[:end+1], i)
}

func (p *Parser) note(here uint, v value) {
	for t := range p.targets {
		if here>>t&1 != 0 {
			p.targets[t].value = v
		}
	}
}

// match returns the targets whose value belongs to the key, and those whose
// path goes on below it.
func (p *Parser) match(b []byte, key value) (here, below uint) {
	name := b[key.start:key.end]
	if key.escaped {
		if len(name) > maxEscape*p.longest {
			return 0, 0
		}
		p.key, _, _ = decodeString(p.key[:0], b[:key.end+1], key.start)
		name = p.key
	}
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
