package confirm

import (
	"encoding/binary"
	"fmt"
	"iter"
	"os"
	"slices"
	"sync"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/internal/base/fields"
	"github.com/firstseen/firstseen/internal/base/scratch"
)

// pieceSize is the length in bytes at which a piece ends, in the spool or in a plain file. Reading a text
// reads one piece, and each piece takes some 50 bytes of memory.
const pieceSize = 64 << 10

// A spool is a temporary file of texts. It is safe for concurrent use.
type spool struct {
	mu     sync.Mutex
	file   *os.File // created with the first text
	length int64
}

// write appends documents in pieces: each its part, record, length of the id, id, length of the
// text, text. It reuses buf, returns it for the next call, and calls last with each place.
func (s *spool) write(buf []byte, docs iter.Seq[*corpus.Document], last func(corpus.Place)) (pieces []piece, _ []byte, err error) {
	out := buf[:0]
	var first corpus.Place
	for doc := range docs {
		if doc.Bad != nil || doc.Empty || doc.Other {
			continue
		}
		if len(out) == 0 {
			first = doc.At
		}
		last(doc.At)
		out = binary.AppendUvarint(out, uint64(doc.At.Part))
		out = binary.AppendUvarint(out, uint64(doc.At.Record))
		out = append(binary.AppendUvarint(out, uint64(len(doc.ID))), doc.ID...)
		out = append(binary.AppendUvarint(out, uint64(len(doc.Text))), doc.Text...)
		if len(out) < pieceSize {
			continue
		}
		if pieces, err = s.add(pieces, first, out); err != nil {
			return pieces, out, err
		}
		out = out[:0]
	}
	if len(out) > 0 {
		pieces, err = s.add(pieces, first, out)
	}
	return pieces, out, err
}

func (s *spool) add(pieces []piece, first corpus.Place, out []byte) (_ []piece, err error) {
	s.mu.Lock()
	if s.file == nil {
		s.file, err = scratch.New()
	}
	file, at, n := s.file, s.length, len(out)
	s.length += int64(n)
	s.mu.Unlock()
	if err != nil {
		return pieces, err
	}
	if _, err := file.WriteAt(out, at); err != nil {
		return pieces, fmt.Errorf("writing texts to a temporary file: %w; set TMPDIR to have it elsewhere", err)
	}
	return append(pieces, piece{first: first, offset: at, length: n}), nil
}

// spooled finds a document in a piece of the spool.
func spooled(b []byte, at corpus.Place, dst []byte) (id string, text []byte, err error) {
	for r := (fields.Reader{Rest: b}); len(r.Rest) > 0; {
		place := corpus.Place{Part: int64(r.Uvarint()), Record: int64(r.Uvarint())}
		id, text := r.Bytes(), r.Bytes()
		if place == at && !r.Short {
			return string(id), append(dst, text...), nil
		}
	}
	return "", nil, errNotThere
}

// keptInput is the data that a run keeps of an input it reads.
type keptInput struct {
	plain  *plainFile // its texts are read from there; nil if they are in the spool
	pieces []piece
}

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// Keep notes where the documents of a parsed block are: in their plain file, or in the temporary file,
// to which it writes them. So no input is decoded twice. Several goroutines may call it, in any order
// of blocks. An error ends the run.
func (in *Inputs) Keep(b *corpus.Block, docs iter.Seq[*corpus.Document]) (err error) {
	in.mu.Lock()
	x := in.kept[b.File]
	if x == nil {
		x = &keptInput{plain: in.plainFile(b)}
		in.kept[b.File] = x
	}
	in.mu.Unlock()
	var pieces []piece
	if x.plain != nil {
		pieces = piecesOf(b)
	} else {
		buf := buffers.Get().(*[]byte)
		defer buffers.Put(buf)
		if pieces, *buf, err = in.spool.write(*buf, docs, func(corpus.Place) {}); cap(*buf) > 8*pieceSize {
			*buf = nil // of a long text
		}
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if len(pieces) > 0 {
		x.pieces = slices.Insert(x.pieces, pieceOf(x.pieces, pieces[0].first)+1, pieces...)
	}
	return err
}

// plainFile returns the input of a block if the records are in its file as they are, or nil.
func (in *Inputs) plainFile(b *corpus.Block) *plainFile {
	if b.Format.Kind() != corpus.ByEnds || b.Charset != "" {
		return nil
	}
	found, err := in.find(b.File)
	if err != nil || found.Size < 0 || found.Compressed() {
		return nil
	}
	return &plainFile{found, b.Format}
}

// piecesOf divides a block of a plain file.
func piecesOf(b *corpus.Block) (pieces []piece) {
	if b.Reject != "" {
		return nil
	}
	for _, s := range b.Spans {
		if n := len(pieces); n == 0 || pieces[n-1].length >= pieceSize {
			pieces = append(pieces, piece{first: s.At, offset: b.Offset + int64(s.Start)})
		}
		p := &pieces[len(pieces)-1]
		p.length = int(b.Offset + int64(s.End) - p.offset)
		p.records++
	}
	return pieces
}
