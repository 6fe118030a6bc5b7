package corpus

import (
	"context"
	"errors"
	"io"

	"github.com/firstseen/firstseen/corpus/archive"
	"github.com/firstseen/firstseen/corpus/compress"
)

// framed is an input whose records are found by a [Frames]. It reads decoded bytes through a
// window, and copies the records found into blocks.
type framed struct {
	src    *compress.Sections
	frames Frames
	window *window // of the source, refilled by each section
	marks  []mark64

	zip     io.ReaderAt // the input, if it is a zip archive
	entries []archive.Member

	member int64 // offset of the member with the last record
	number int64 // of the last record in it
	begun  bool  // a section is open
	damage string
	told   bool            // damage was handed out
	head   []byte          // start of the next member
	open   bool            // the next member begins a section
	resync bool            // the next section follows damage
	failed error           // Damage after head
	skip   int             // bytes still to skip
	found  *Frame          // did not fit into the previous block
	ctx    context.Context // of the current call of fill
}

// mark64 maps a place in the decoded bytes to the member that begins there, inside a section.
type mark64 struct{ at, stored int64 }

// unfinished is a [Frames] that knows whether an input ended too early. The reason becomes a bad record.
type unfinished interface{ Unfinished() string }

// fill puts the next records into b, or none at the end of the input.
func (f *framed) fill(ctx context.Context, s *Source, b *Block) error {
	var err error
	for full := false; !full && err == nil; {
		full, err = f.step(ctx, s, b)
	}
	if err == io.EOF {
		s.eof, err = true, nil
	}
	s.emit(b)
	b.Frames = f.frames
	return err
}

// step handles one frame, and reports whether the block is full.
func (f *framed) step(ctx context.Context, s *Source, b *Block) (full bool, err error) {
	w := f.window
	held := w.held()
	if s.live && len(b.Spans) > 0 && f.begun && len(held) == 0 && !w.last {
		return true, nil // the sender may wait for answers to these
	}
	if f.begun && f.skip > 0 {
		return false, f.passOver(ctx, s)
	}
	if len(held) == 0 && w.last {
		if u, ok := f.frames.(unfinished); ok && f.begun && f.damage == "" {
			f.damage = u.Unfinished()
		}
		if f.damage != "" && !f.told {
			f.told = true
			f.number++
			f.add(b, nil, f.damage, false)
			return len(b.Spans) >= s.most, nil
		}
		f.begun = false
	}
	if !f.begun {
		return false, f.section(s)
	}
	fr := f.found
	if f.found = nil; fr == nil {
		if len(held) == 0 {
			return false, s.need(ctx, 1)
		}
		looked := f.frames.Frame(held, f.end())
		fr = &looked
	}
	if fr.Need > 0 && !w.last {
		if s.live && len(b.Spans) > 0 {
			return true, nil
		}
		return false, s.need(ctx, fr.Need)
	}
	return f.take(s, b, fr), nil
}

func (f *framed) end() SectionEnd {
	switch {
	case !f.window.last:
		return GoesOn
	case f.damage == "" && f.src.HasMembers():
		return Whole
	}
	return Ends
}

// take advances by a frame and puts its record into the block.
func (f *framed) take(s *Source, b *Block, fr *Frame) (full bool) {
	w := f.window
	left := len(w.held())
	pass := fr.Pass
	if pass <= 0 { // at the end, no more can come
		pass = left
	}
	handed := fr.Take > 0 || fr.Bad != ""
	size := min(fr.Take, left)
	if fr.Bad != "" {
		size = min(size, overlongHead)
	}
	if handed && len(b.Spans) > 0 && (fr.Alone || len(b.buf)+size > s.cfg.BlockSize || len(b.Spans) >= s.most) {
		f.found = fr
		return true
	}
	if fr.Record || handed { // any returned record needs a place to resume from
		f.count(fr)
	}
	reason := fr.Bad
	if w.last && f.damage != "" && pass >= left && handed && !f.told {
		reason, f.told = f.damage, true
		size = min(size, overlongHead)
	}
	switch {
	case handed && size > s.cfg.BlockSize && reason == "":
		b.Spans = append(b.Spans, Span{At: Place{f.member, f.number}, End: size, Other: fr.Other})
		b.Data = w.take(b, size, true)
		pass, left, full = pass-size, left-size, true
	case handed:
		f.add(b, w.held()[:size], reason, fr.Other && reason == "")
		full = fr.Alone
	}
	w.r += min(pass, left)
	f.skip = max(pass-left, 0)
	return full
}

// count numbers the record, or the garbage, at the start of the window.
func (f *framed) count(fr *Frame) {
	at := f.window.at()
	for len(f.marks) > 0 && f.marks[0].at <= at {
		f.enter(f.marks[0].stored)
		f.marks = f.marks[1:]
	}
	if f.src.Kind == "" {
		f.enter(at)
	}
	f.number = max(f.number+1, fr.Number)
}

// enter notes that the next record begins in the member at offset stored.
func (f *framed) enter(stored int64) {
	if !f.src.Single {
		f.member, f.number = f.src.Base+stored, 0
	}
}

func (f *framed) add(b *Block, raw []byte, bad string, other bool) {
	start := len(b.buf)
	b.buf = append(b.buf, raw...)
	b.Spans = append(b.Spans, Span{At: Place{f.member, f.number}, Start: start, End: len(b.buf), Bad: bad, Other: other})
}

// passOver skips the rest of a frame longer than the window.
func (f *framed) passOver(ctx context.Context, s *Source) error {
	w := f.window
	if err := s.need(ctx, 1); err != nil {
		return err
	}
	n := min(f.skip, len(w.held()))
	w.r += n
	if f.skip -= n; len(w.held()) == 0 && w.last {
		f.skip = 0
	}
	return nil
}

func (f *framed) section(s *Source) (err error) {
	f.begun, f.damage, f.told = true, "", false
	f.marks = f.marks[:0]
	f.frames.Begin()
	if !f.open && f.failed == nil {
		if f.resync {
			err = f.src.Resync()
		}
		if err == nil {
			err = f.src.Next()
		}
		for err == io.EOF && len(f.entries) > 0 {
			if err := f.nextEntry(s); err != nil {
				return err
			}
			f.member, f.number = f.src.Base, 0
			f.window.begin(f)
			err = f.src.Next()
		}
	}
	f.window.last, f.open, f.resync = false, false, false
	f.enter(f.src.Begin)
	if isDamage(err) {
		f.failed, err = err, nil
	}
	return err
}

func isDamage(err error) bool {
	var d *compress.Damage
	return errors.As(err, &d)
}

// Read reads the decoded bytes of the section. Damage ends it.
func (f *framed) Read(p []byte) (n int, err error) {
	for n == 0 && err == nil {
		switch {
		case f.ctx.Err() != nil: // many members may be empty
			return 0, f.ctx.Err()
		case len(f.head) > 0:
			n = copy(p, f.head)
			f.head = f.head[n:]
		case f.failed != nil:
			err, f.failed = f.failed, nil
		default:
			if n, err = f.src.Read(p); err == compress.ErrSection {
				err = f.follow()
			} else if n == 0 && err == nil {
				return 0, nil
			}
		}
	}
	if isDamage(err) {
		f.damage, f.resync, err = err.Error(), true, io.EOF
	}
	return n, err
}

// follow moves to the next member, or returns io.EOF if that begins another section or is missing.
func (f *framed) follow() error {
	err := f.src.Next()
	if isDamage(err) {
		f.failed = err
		return io.EOF
	}
	if err != nil {
		return err
	}
	head := make([]byte, compress.RecognizedBy)
	n, err := compress.ReadFull(f.src, head)
	f.head = head[:n]
	if isDamage(err) {
		f.failed = err
	}
	switch {
	case f.frames.Starts(f.head):
		f.open = true
		return io.EOF
	case f.failed != nil: // the kind of the member is unknown
		f.head = nil
		return io.EOF
	}
	f.marks = append(f.marks, mark64{f.window.base + int64(f.window.w), f.src.Begin})
	return nil // an error, or the end, is returned again
}
