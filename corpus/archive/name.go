package archive

import (
	"encoding/binary"
	"hash/crc32"
	"path"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/simplifiedchinese"
)

// maxName is the longest name in bytes: the longest path on systems that create archives.
const maxName = 4096

// clean turns a member name into a path on one line that stays below any folder it is joined to.
// For other names it returns the kind.
func clean(name string) (_, kind string) {
	if len(name) > maxName {
		return name[:maxName], kindName
	}
	if strings.ContainsFunc(name, unicode.IsControl) {
		return name, kindControl
	}
	name = path.Clean("/" + name)[1:]
	if name == "" || !filepath.IsLocal(filepath.FromSlash(name)) {
		return name, kindName
	}
	return name, ""
}

// Printable replaces control characters in a name, which a terminal would obey.
func Printable(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return utf8.RuneError
		}
		return r
	}, name)
}

// decode converts a name to UTF-8. Invalid UTF-8 most likely comes from a Chinese Windows, in GBK,
// a subset of GB18030. Other names use the encoding of DOS (APPNOTE.TXT, appendix D).
func decode(name string, isUTF8 bool) string {
	if isUTF8 {
		return name
	}
	if text, err := simplifiedchinese.GB18030.NewDecoder().String(name); err == nil && !strings.ContainsRune(text, utf8.RuneError) {
		return text
	}
	text, _ := charmap.CodePage437.NewDecoder().String(name) // it maps every byte
	return text
}

// unicodePath returns the name in the "Info-ZIP Unicode Path" field (APPNOTE.TXT 4.6.9), or "" if
// the field does not match the member's name.
func unicodePath(extra []byte, name string) string {
	const id, head = 0x7075, 5 // head is the size of version and checksum
	for len(extra) >= 4 {
		tag, size := binary.LittleEndian.Uint16(extra), int(binary.LittleEndian.Uint16(extra[2:]))
		extra = extra[4:]
		if size > len(extra) {
			return ""
		}
		field := extra[:size]
		extra = extra[size:]
		if tag == id && size > head && field[0] == 1 && binary.LittleEndian.Uint32(field[1:]) == crc32.ChecksumIEEE([]byte(name)) && utf8.Valid(field[head:]) {
			return string(field[head:])
		}
	}
	return ""
}
