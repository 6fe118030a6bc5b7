package docmap

func (t *Table) addDoc(d Doc, keys []uint64) (uint32, error) {
	return t.Add([]string{d.ID}, [][]byte{d.Data}, [][]uint64{keys}, nil, nil)
}

// postings holds the answers to a look-up.
type postings struct {
	holders []uint32
	n       []uint8
}

func (p *postings) of(i int) []uint32 { return p.holders[i*MaxHolders:][:p.n[i]&^ClosedKey] }

func (t *Table) ask(keys []uint64, p *postings) error {
	if len(p.n) < len(keys) {
		p.n, p.holders = make([]uint8, len(keys)), make([]uint32, len(keys)*MaxHolders)
	}
	return t.Lookup(keys, p.holders, p.n)
}

func (g *tombstones) loadList(key, value []byte, docs uint32) error {
	ranges, err := deadList.decode(key, value, docs)
	if err == nil {
		err = deadList.addTo(&g.dead, ranges)
	}
	g.saved(ranges)
	return err
}

func (k *docBlock) addDoc(id string, data []byte) bool {
	return k.add(appendRecord(nil, k.next(), id, data), windowBlockBytes)
}

// runsOf returns runs of these records, with unknown bins.
func runsOf(records ...runInfo) (runs []*run) {
	for _, r := range records {
		runs = append(runs, &run{runInfo: r})
	}
	return runs
}

func recordsOf(runs []*run) (records []runInfo) {
	for _, r := range runs {
		records = append(records, r.runInfo)
	}
	return records
}
