package corpus

import (
	"context"
	"errors"
	"io"

	"github.com/firstseen/firstseen/corpus/compress"
)

// framed is an input whose records a [Frames] finds. It shows one window of the decoded bytes after
// the other, and takes the found records into blocks.
type framed struct {
	src    *compress.Sections
	rest   []func() (*compress.Sections, error) // what else the input holds, behind src
	frames Frames

	buf   []byte // buf[r:w] is decoded and not handed out
	r, w  int
	long  memory // buf, if a record is long
	gone  int64  // decoded bytes of src before buf
	marks []mark64

	member int64 // beginning of the member with the last record
	number int64 // of the last record in it
	begun  bool  // a section is open
	last   bool  // buf holds the rest of the section
	damage string
	told   bool   // the damage was handed out
	ahead  []byte // the beginning of the next section, if its member is open
	resync bool   // the next section is behind damage
	failed error  // Damage that was found behind the section
	skip   int    // bytes still to go on by
	found  *Frame // that did not fit into the block before
}

// mark64 is a member that begins inside a section, and its place in buf.
type mark64 struct {
	at     int
	stored int64
}

// windowSize is the buffer of a framed input while its records are not longer.
const windowSize = 256 << 10

func (f *framed) close() {
	if f.src != nil {
		f.src.Close()
	}
	f.long.free()
}

// fill puts the next records into b, or none at the end of the input.
func (f *framed) fill(ctx context.Context, s *Source, b *Block) error {
	var err error
	for full := false; !full && err == nil; {
		full, err = f.step(ctx, s, b)
	}
	if err == io.EOF {
		s.eof, err = true, nil
	}
	s.emitSpans(b)
	b.Frames = f.frames
	return err
}

// step takes one frame, and reports whether the block is full.
func (f *framed) step(ctx context.Context, s *Source, b *Block) (full bool, err error) {
	if s.live && len(b.Spans) > 0 && f.begun && f.r == f.w && !f.last {
		return true, nil // a sender may wait for the answers to these
	}
	if f.begun && f.skip > 0 {
		return false, f.passOver(ctx, s)
	}
	if f.r == f.w && f.last {
		if f.damage != "" && !f.told {
			f.told = true
			f.number++
			f.add(b, nil, f.damage, false)
			return len(b.Spans) >= s.most, nil
		}
		f.begun = false
	}
	if !f.begun {
		return false, f.section()
	}
	fr := f.found
	if f.found = nil; fr == nil {
		if f.r == f.w {
			return false, f.need(ctx, s, 1)
		}
		looked := f.frames.Frame(f.buf[f.r:f.w], f.end())
		fr = &looked
	}
	if fr.Need > 0 && !f.last {
		if s.live && len(b.Spans) > 0 {
			return true, nil
		}
		return false, f.need(ctx, s, fr.Need)
	}
	return f.take(s, b, fr), nil
}

// end returns the kind of end of the window.
func (f *framed) end() SectionEnd {
	switch {
	case !f.last:
		return GoesOn
	case f.damage == "" && f.src.HasMembers():
		return Whole
	}
	return Ends
}

// take goes on by a frame, and puts its record into the block.
func (f *framed) take(s *Source, b *Block, fr *Frame) (full bool) {
	left := f.w - f.r
	pass := fr.Pass
	if pass <= 0 { // more cannot come at the end
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
	if fr.Record || handed { // a handed-out record has a place to continue from
		f.count(fr)
	}
	reason := fr.Bad
	if f.last && f.damage != "" && pass >= left && handed && !f.told {
		reason, f.told = f.damage, true
		size = min(size, overlongHead)
	}
	switch {
	case handed && size > s.cfg.BlockSize && reason == "":
		f.handOver(b, size, fr.Other)
		pass, left, full = pass-size, left-size, true
	case handed:
		f.add(b, f.buf[f.r:f.r+size], reason, fr.Other && reason == "")
		full = fr.Alone
	}
	f.r += min(pass, f.w-f.r)
	f.skip = max(pass-left, 0)
	return full
}

// count numbers the record, or the rubbish, at the beginning of the window.
func (f *framed) count(fr *Frame) {
	for len(f.marks) > 0 && f.marks[0].at <= f.r {
		f.enter(f.marks[0].stored)
		f.marks = f.marks[1:]
	}
	if f.src.Kind == "" {
		f.enter(f.gone + int64(f.r))
	}
	f.number = max(f.number+1, fr.Number)
}

// enter says that the next record begins in the member at an offset.
func (f *framed) enter(stored int64) {
	if !f.src.Single {
		f.member, f.number = f.src.Base+stored, 0
	}
}

// add copies a record into the block.
func (f *framed) add(b *Block, raw []byte, bad string, other bool) {
	start := len(b.buf)
	b.buf = append(b.buf, raw...)
	b.Spans = append(b.Spans, Span{At: Place{f.member, f.number}, Start: start, End: len(b.buf), Bad: bad, Other: other})
}

// handOver moves a long record from the window to the block, with its memory, unless the following
// bytes need much of that.
func (f *framed) handOver(b *Block, size int, other bool) {
	b.Spans = append(b.Spans, Span{At: Place{f.member, f.number}, End: size, Other: other})
	if rest := f.w - f.r - size; f.r > 0 || rest > windowSize || f.long.mem == nil {
		b.Data = b.long.hold(f.buf[f.r:f.r+size], size)
		f.r += size
		return
	}
	b.long, f.long = f.long, memory{}
	b.Data = b.long.mem[:size:size]
	rest := append(make([]byte, 0, 4*windowSize), f.buf[size:f.w]...)
	f.moved(size)
	f.buf, f.r, f.w = rest[:cap(rest)], 0, len(rest)
}

// moved notes that the window has lost its first bytes.
func (f *framed) moved(n int) {
	f.gone += int64(n)
	for i := range f.marks {
		f.marks[i].at -= n
	}
}

// passOver skips the rest of a frame longer than the window.
func (f *framed) passOver(ctx context.Context, s *Source) error {
	if f.r == f.w && !f.last {
		if err := f.need(ctx, s, 1); err != nil {
			return err
		}
	}
	n := min(f.skip, f.w-f.r)
	f.r += n
	if f.skip -= n; f.r == f.w && f.last {
		f.skip = 0
	}
	return nil
}

// need reads until the window has n bytes, or the rest of the section. It takes memory as bytes come,
// because the stated length of a record may be wrong.
func (f *framed) need(ctx context.Context, s *Source, n int) error {
	step := 0 // bytes to have before more memory is taken
	for idle := 0; f.w-f.r < n && !f.last; idle++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if held := f.w - f.r; held >= step {
			if step = min(n, max(2*held, s.cfg.BlockSize)); step > s.cfg.BlockSize {
				if err := s.askRoom(ctx, 2*step); err != nil {
					return err
				}
			}
		}
		f.reserve(step)
		got, err := f.src.Read(f.buf[f.w:min(cap(f.buf), f.w+windowSize)])
		f.w += got
		if got > 0 || err == compress.ErrSection {
			idle = 0
		}
		if err == compress.ErrSection {
			err = f.follow()
		}
		switch {
		case f.fail(err):
		case err != nil:
			return compress.ReadError(s.name, err)
		case idle == 100:
			return compress.ReadError(s.name, io.ErrNoProgress)
		}
	}
	return nil
}

// reserve makes room for the window to grow to n bytes, and for some more.
func (f *framed) reserve(n int) {
	held := f.w - f.r
	if f.r+n <= cap(f.buf) && f.w < cap(f.buf) {
		f.buf = f.buf[:cap(f.buf)]
		return
	}
	n = max(n, held+1)
	f.moved(f.r)
	data := f.buf[f.r:f.w]
	switch want := n + windowSize; {
	case want <= cap(f.buf) && (f.long.mem == nil || want > 4*windowSize):
		copy(f.buf[:cap(f.buf)], data)
		f.buf = f.buf[:cap(f.buf)]
	case want <= 4*windowSize:
		f.buf = append(make([]byte, 0, 4*windowSize), data...)
		f.buf = f.buf[:cap(f.buf)]
		f.long.free()
	default:
		f.long.hold(data, max(want, min(2*cap(f.buf), 2*want)))
		f.buf = f.long.mem
	}
	f.r, f.w = 0, held
}

// section opens the next section.
func (f *framed) section() error {
	f.begun, f.last, f.damage, f.told = true, false, "", false
	f.marks = f.marks[:0]
	f.frames.Begin()
	if f.ahead != nil {
		f.reserve(len(f.ahead))
		f.w += copy(f.buf[f.w:cap(f.buf)], f.ahead)
		f.ahead = nil
		f.enter(f.src.Begin)
		f.fail(f.failed)
		f.failed = nil
		return nil
	}
	err := f.failed
	f.failed = nil
	if err == nil && f.resync {
		f.resync = false
		err = f.src.Resync()
	}
	if err == nil {
		err = f.src.Next()
	}
	for err == io.EOF && len(f.rest) > 0 {
		open := f.rest[0]
		f.rest, f.gone, f.r, f.w = f.rest[1:], 0, 0, 0
		if f.src, err = open(); err == nil {
			f.member, f.number = f.src.Base, 0
			err = f.src.Next()
		}
	}
	f.enter(f.src.Begin)
	if f.fail(err) {
		return nil
	}
	return err
}

// fail ends the section if an error is Damage.
func (f *framed) fail(err error) bool {
	var d *compress.Damage
	if !errors.As(err, &d) {
		return false
	}
	f.last, f.damage, f.resync = true, d.Reason, true
	return true
}

// follow goes from the end of a member to the next, and finds out whether that begins
// another section.
func (f *framed) follow() error {
	err := f.src.Next()
	var d *compress.Damage
	switch {
	case err == io.EOF:
		f.last = true
		return nil
	case errors.As(err, &d):
		f.last, f.failed = true, err
		return nil
	case err != nil:
		return err
	}
	head := make([]byte, compress.RecognizedBy)
	n, err := compress.ReadFull(f.src, head)
	damaged := errors.As(err, &d)
	switch head = head[:n]; {
	case f.frames.Starts(head):
		f.last, f.ahead = true, head
		if damaged {
			f.failed = err
		}
		return nil
	case damaged: // its kind is unknown
		f.last, f.failed = true, err
		return nil
	}
	f.marks = append(f.marks, mark64{f.w, f.src.Begin})
	f.reserve(f.w - f.r + n)
	f.w += copy(f.buf[f.w:cap(f.buf)], head)
	return nil // the end, or an error of reading, comes again
}
