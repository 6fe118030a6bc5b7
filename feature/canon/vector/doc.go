// Package vector has the loops over text in vector instructions: what nearly all of
// nearly all texts is, letters, digits and punctuation in ASCII and Han with its
// punctuation, 64 bytes at a time. What it cannot do it leaves to package canon, which can do
// everything, character by character, and is what this is held to.
package vector
