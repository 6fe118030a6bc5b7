package warc

// InsteadOf are the records that are written in the place of one: a revisit record, if the
// payload is known, and a metadata record.
func InsteadOf(raw []byte) (records [][]byte) {
	if !isWARC(raw) || headEnd(raw) < 0 {
		return nil
	}
	r := parseHead(raw[:headEnd(raw)])
	if of, ok := witnessOf(raw); ok {
		records = append(records, revisitOf(&r, raw, &of))
	}
	return append(records, metadataOf(&r, raw, &Removed{Of: "x\ny", Verdict: "duplicate", Score: "1"}, false))
}
