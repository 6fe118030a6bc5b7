package confirm

import (
	"errors"
	"iter"
	"slices"
	"sync"

	"github.com/firstseen/firstseen/corpus"
)

// keptInput is the data a run keeps of an input that it reads.
type keptInput struct {
	inFile bool // its texts are read in the file itself
	pieces []piece
}

// buffers are those in which Keep puts texts together.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// Keep writes the documents of a block that a run has parsed to the temporary file, unless
// they stand in a plain file: so no input has to be decoded twice. Several goroutines may
// call it, in any order of blocks. An error ends the run.
func (in *Inputs) Keep(b *corpus.Block, docs iter.Seq[*corpus.Document]) error {
	x := in.keptInput(b)
	if x.inFile {
		return nil
	}
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	pieces, used, err := in.spool.write(*buf, docs, func(corpus.Place) {})
	if *buf = used; cap(used) > 8*pieceSize {
		*buf = nil // of a long text
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if len(pieces) > 0 {
		x.pieces = slices.Insert(x.pieces, pieceOf(x.pieces, pieces[0].first)+1, pieces...)
	}
	return err
}

// keptInput is that of a block.
func (in *Inputs) keptInput(b *corpus.Block) *keptInput {
	in.mu.Lock()
	defer in.mu.Unlock()
	x := in.kept[b.File]
	if x == nil {
		x = &keptInput{inFile: in.standsInPlainFile(b)}
		in.kept[b.File] = x
	}
	return x
}

// standsInPlainFile reports whether the records of a block probably stand in its file as they are.
// If that is wrong, the input is read again.
func (in *Inputs) standsInPlainFile(b *corpus.Block) bool {
	if b.Format.Kind() != corpus.ByEnds || b.Charset != "" {
		return false
	}
	found, err := in.find(b.File)
	return err == nil && !found.Compressed()
}

// keptText finds a text among those that the run has kept.
func (in *Inputs) keptText(p Place, dst []byte) (id string, text []byte, ok bool, err error) {
	x := in.kept[p.File]
	if x == nil {
		return "", nil, false, nil
	}
	at := pieceOf(x.pieces, p.At)
	if at < 0 {
		return "", nil, false, nil
	}
	id, text, err = in.read(nil, &x.pieces[at], p.At, dst)
	if errors.Is(err, errNotThere) {
		return "", nil, false, nil
	}
	return id, text, err == nil, err
}
