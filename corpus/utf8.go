package corpus

import "github.com/segmentio/asm/utf8"

// ValidUTF8 is [unicode/utf8.Valid] for whole texts. With AVX2 it is ten times as fast outside ASCII:
// 4.5 GB/s of Chinese, not 0.45.
func ValidUTF8(text []byte) bool { return utf8.Valid(text) }
