package nested

import (
	"bytes"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/jsonl"
)

const (
	space         = " \t\r\n"
	byteOrderMark = "\xef\xbb\xbf"
	shown         = 4 << 10 // bytes taken of a bad record that has more
)

// frames finds the records of one input: another finds the values, which the window then holds, and
// frames hands out their records.
type frames struct {
	values corpus.Frames
	path   jsonl.Path

	value  int64 // number of the value
	number int64 // of the last record in it
	inside int   // remaining bytes of the value, 0: the window is behind it
	behind int   // bytes to pass over behind it
	record int   // bytes of the record that the window begins with, 0: it begins with none
	find   jsonl.Finder
}

// Numbered marks places as numbers of values and records.
func (*frames) Numbered() {}

// Starts is false: members of a compressed file mean nothing.
func (*frames) Starts([]byte) bool { return false }

// Begin begins a section.
func (f *frames) Begin() { f.values.Begin() }

// Frame returns the frame at the beginning of data.
func (f *frames) Frame(data []byte, end corpus.SectionEnd) corpus.Frame {
	switch {
	case f.record > 0:
		return f.hand()
	case f.inside > 0:
		return f.next(data)
	}
	fr := f.values.Frame(data, end)
	if fr.Take == 0 && fr.Bad == "" {
		return fr
	}
	f.value, f.number = fr.Number, 0
	if value := data[:fr.Take]; fr.Bad == "" {
		if len(bytes.Trim(value, space)) == 0 {
			return corpus.Frame{Pass: fr.Pass}
		}
		err := jsonl.CheckValue(value)
		if err == nil {
			f.inside, f.behind = fr.Take, fr.Pass-fr.Take
			f.find.Begin(f.path)
			return f.next(data)
		}
		fr.Bad, fr.Take = err.Error(), min(fr.Take, shown)
	}
	fr.Part, fr.Number = f.value, 1
	return fr
}

// next goes to the next record of the value, or behind that.
func (f *frames) next(data []byte) corpus.Frame {
	start, end, found := f.find.Next(data[:f.inside])
	if found {
		f.inside -= end
		f.record = end - start
		return corpus.Frame{Pass: start} // there is a bracket at least
	}
	fr := corpus.Frame{Pass: f.inside + f.behind}
	if err := f.find.Lacking(); err != nil { // then the window begins with the value
		fr = corpus.Frame{Take: min(f.inside, shown), Pass: fr.Pass, Record: true, Bad: err.Error(), Part: f.value, Number: 1}
	}
	f.inside = 0
	return fr
}

// hand hands out the record that the window begins with.
func (f *frames) hand() corpus.Frame {
	f.number++
	fr := corpus.Frame{Take: f.record, Pass: f.record, Record: true, Part: f.value, Number: f.number}
	f.record = 0
	return fr
}
