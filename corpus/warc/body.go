package warc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/compress"
)

// encodings returns the known encodings of a body, in the order in which they were applied.
// Transfer codings other than chunked count, too (RFC 9112, section 7.2).
func encodings(f fields) (list []string) {
	for _, header := range []string{"Content-Encoding", "Transfer-Encoding"} {
		for word := range bytes.SplitSeq(f.list(header), []byte(",")) {
			switch name := mediaType(word); name {
			case "gzip", "x-gzip":
				list = append(list, "gzip")
			case "deflate", "br", "zstd":
				list = append(list, name)
			}
		}
	}
	return list
}

// eachChunk calls f with the content of each chunk of a body (RFC 9112, section 7.1), and with any
// other bytes after them. It reports whether the chunks are complete.
func eachChunk(body []byte, f func(data []byte)) bool {
	whole := true
	for len(body) > 0 {
		size, n := chunkSize(body)
		if n == 0 {
			f(body)
			return false
		}
		body = body[n:]
		if size == 0 {
			end := headEnd(body) // of the trailers
			return whole && end == len(body)
		}
		if size >= len(body) {
			f(body)
			return false
		}
		f(body[:size])
		switch body = body[size:]; {
		case bytes.HasPrefix(body, []byte("\r\n")):
			body = body[2:]
		case body[0] == '\n':
			body = body[1:]
		default:
			whole = false
		}
	}
	return false
}

// chunkSize parses the line before a chunk. n is 0 if there is no such line.
func chunkSize(data []byte) (size, n int) {
	line, _, found := bytes.Cut(data[:min(len(data), 256)], []byte("\n"))
	rest := bytes.TrimLeft(line, "0123456789abcdefABCDEF")
	number, err := strconv.ParseUint(string(line[:len(line)-len(rest)]), 16, 44)
	if rest = bytes.TrimSpace(rest); !found || err != nil || len(rest) > 0 && rest[0] != ';' {
		return 0, 0
	}
	return int(number), len(line) + 1
}

// errTooLong is returned for a body longer than the limit of a record.
var errTooLong = errors.New("decompressed, the body is longer than the limit")

// maxBodyWindow is the largest window of a compressed body, as in browsers (RFC 9659).
const maxBodyWindow = 8 << 20

// brotliWindow is the largest window of brotli (RFC 7932).
const brotliWindow = 16 << 20

// unpacker decompresses bodies. It must be used by one goroutine only.
type unpacker struct {
	src  bytes.Reader
	gzip gzip.Reader
	buf  []byte // for small bodies, reused
	cut  bool   // a body broke off; never reset here
}

// magics are the first bytes of bodies in some encodings.
var magics = map[string]string{"gzip": compress.GzipMagic, "zstd": compress.ZstdMagic}

// unpack undoes an encoding of a body in a record of b, to at most max bytes. A body without the
// magic of the encoding is returned unchanged. A truncated body is decoded as far as possible.
func (u *unpacker) unpack(b *corpus.Block, encoding string, body []byte, max int) ([]byte, error) {
	if len(body) == 0 || !bytes.HasPrefix(body, []byte(magics[encoding])) {
		return body, nil
	}
	r, sure, err := u.open(b, encoding, body)
	if err != nil {
		return nil, explain(encoding, err)
	}
	defer r.Close()
	decoded, err := u.readAll(b, encoding, r, max)
	if short := bytes.TrimRight(body, "\r\n"); encoding == "br" && err != io.EOF && len(decoded) <= max && len(short) < len(body) {
		// If the record's length is wrong, a line end may follow.
		u.src.Reset(short)
		decoded, err = u.readAll(b, encoding, brotli.NewReader(&u.src), max)
	}
	cut := errors.Is(err, io.ErrUnexpectedEOF)
	// Garbage after the last member.
	behind := errors.Is(err, gzip.ErrHeader) || errors.Is(err, zstd.ErrMagicMismatch)
	switch {
	case len(decoded) > max:
		return nil, fmt.Errorf("%w of %d bytes", errTooLong, max)
	case err == io.EOF:
		return decoded, nil
	case !sure && isPlain(body):
		return body, nil // its header is wrong
	case len(decoded) > 0 && (cut || behind):
		u.cut = u.cut || cut
		return decoded, nil
	}
	return nil, explain(encoding, err)
}

// open returns a decompressor for a body. sure reports whether the body begins like its encoding.
func (u *unpacker) open(b *corpus.Block, encoding string, body []byte) (r io.ReadCloser, sure bool, err error) {
	u.src.Reset(body)
	switch encoding {
	case "gzip":
		m := gzipMembers{&u.gzip, &u.src, body}
		return m, true, m.next()
	case "deflate": // servers send it with or without the header of zlib
		if z, err := zlib.NewReader(&u.src); err == nil {
			return z, true, nil
		}
		u.src.Reset(body)
		return flate.NewReader(bufio.NewReader(&u.src)), false, nil
	case "zstd":
		var head zstd.Header
		if err := head.Decode(body); err != nil {
			return nil, false, err
		}
		b.Take(int(min(head.WindowSize+head.FrameContentSize, maxBodyWindow)))
		dec, err := zstd.NewReader(&u.src, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxBodyWindow))
		if err != nil {
			return nil, false, err
		}
		return dec.IOReadCloser(), true, nil
	}
	return io.NopCloser(brotli.NewReader(&u.src)), false, nil
}

// gzipMembers reads consecutive members. Other bytes after one end the body: unlike in the library,
// fewer bytes than a header do not mean that it is cut off.
type gzipMembers struct {
	*gzip.Reader
	src  *bytes.Reader // over body
	body []byte
}

func (m gzipMembers) next() error {
	err := m.Reset(m.src)
	m.Multistream(false)
	return err
}

func (m gzipMembers) Read(p []byte) (n int, err error) {
	n, err = m.Reader.Read(p)
	if err == io.EOF && bytes.HasPrefix(m.body[len(m.body)-m.src.Len():], []byte(compress.GzipMagic)) {
		err = m.next()
	}
	return n, err
}

// isPlain reports whether a body begins with text.
func isPlain(body []byte) bool {
	head := body[:min(len(body), 1<<10)]
	for len(head) > 0 && !utf8.RuneStart(head[len(head)-1]) {
		head = head[:len(head)-1]
	}
	if len(head) < len(body) && len(head) > 0 {
		head = head[:len(head)-1]
	}
	return utf8.Valid(head) && bytes.IndexByte(head, 0) < 0
}

func explain(encoding string, err error) error {
	return fmt.Errorf("the body cannot be decompressed (%s): %w", encoding, err)
}

const (
	smallBody = 256 << 10 // up to this size, a body is decompressed into reused memory
	growth    = 1 << 20   // step by which the memory of a larger one grows
)

// readAll reads the decompressed body, into the memory of the block if it is large. It reads at
// most one byte more than max. Its error is io.EOF at the end.
func (u *unpacker) readAll(b *corpus.Block, encoding string, r io.Reader, max int) ([]byte, error) {
	if u.buf == nil {
		u.buf = make([]byte, smallBody)
	}
	n, err := compress.ReadFull(r, u.buf[:min(len(u.buf), max+1)])
	data := u.buf[:n]
	if err == nil { // there may be more
		b.Take(smallBody)
		if encoding == "br" { // its window grows with its output
			b.Take(brotliWindow)
		}
		data = append(b.Memory(max+1), data...)
		for err == nil && len(data) < cap(data) {
			piece := data[len(data):min(cap(data), len(data)+growth)]
			b.Take(len(piece))
			n, err = compress.ReadFull(r, piece)
			data = data[:len(data)+n]
		}
		if err == nil { // it is too long
			err = io.EOF
		}
	}
	b.Inflated += int64(len(data))
	return data, err
}
