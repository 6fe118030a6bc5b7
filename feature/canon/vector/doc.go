// Package vector has the loops over text in vector instructions, 64 bytes at a time. They cover
// nearly all of nearly all texts: letters, digits and punctuation in ASCII, and Han with its
// punctuation. It leaves the rest to package canon, which can do everything, character by
// character. Its results must equal those of canon.
package vector
