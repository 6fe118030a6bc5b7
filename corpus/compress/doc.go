// Package compress turns stored bytes into decoded ones. It recognises gzip, zstd, bzip2, xz and
// lz4 by their first bytes. [Decoders] undo one file after the other, [Ahead] decodes several
// before they are read, and [Sections] reads the members of one file and passes over damage.
//
// It promises bounds: a decoder takes no larger window, and no file grows more, than [Bounds]
// allow. It knows files and readers, and no input.
package compress
