package docmap

// MaxHolders is how many documents a key keeps: the earliest. A key that has so
// many is known to be common.
const MaxHolders = keyLimit

// Reset makes p ready for the answers to a look-up of so many keys, for a table
// that is not a [Table].
func (p *Postings) Reset(keys int) { p.reset(keys) }

// Append adds a document, later than those before it, to the i-th key, unless
// that has MaxHolders already.
func (p *Postings) Append(i int, num uint32) {
	if p.n[i] < keyLimit {
		p.docs[i*keyLimit+int(p.n[i])] = num
		p.n[i]++
	}
}
