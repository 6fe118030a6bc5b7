package warc

// InsteadOf returns a metadata record for raw, after a revisit record if the payload is known.
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
