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

// maxName is the longest name, in bytes: the longest path on the systems that make archives.
const maxName = 4096

// clean turns the name of a member into a path. The path stays below any folder it is joined to,
// and is one line of a list. For a member without such a name it returns the kind.
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

// Printable is a name without control characters, which a terminal would obey.
func Printable(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return utf8.RuneError
		}
		return r
	}, name)
}

// decode makes UTF-8 of a name. Invalid UTF-8 was most likely written on a Chinese Windows, in GBK,
// a part of GB18030. Otherwise the name is in the encoding of DOS (APPNOTE.TXT, appendix D).
func decode(name string, isUTF8 bool) string {
	if isUTF8 {
		return name
	}
	if text, err := simplifiedchinese.GB18030.NewDecoder().String(name); err == nil && !strings.ContainsRune(text, utf8.RuneError) {
		return text
	}
	text, _ := charmap.CodePage437.NewDecoder().String(name) // it has a character for every byte
	return text
}

// unicodePath returns the name in the field "Info-ZIP Unicode Path" of a zip member (APPNOTE.TXT
// 4.6.9), if that field belongs to the member's name; else "".
func unicodePath(extra []byte, name string) string {
	const id, head = 0x7075, 5 // of a version and a checksum
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
