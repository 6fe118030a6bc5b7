// Package eval counts right and wrong removals by methods on labelled documents.
package eval

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
)

// A Doc is a document to judge.
type Doc struct{ ID, Text string }

// A Set is a set of documents, with or without labels.
type Set struct {
	Name  string
	Docs  []Doc
	Pairs []Pair
	// Cluster of each document, if all of them are known. If nil, the pairs decide, and the
	// precision omits pairs of documents without a label.
	Cluster []int
	// Frame reports, for a grey removal, whether the IDs name another page of the same work as
	// witness; nil if IDs do not show it.
	Frame func(id, witness string) bool
	// Origin is the source of each document's text, if known: a removal with a witness of another
	// origin is false. If nil, likeness decides.
	Origin []int

	at       map[string]int // id → position in Docs
	measured map[[2]int]Likeness
}

// AlikeLCS is the minimum score of two alike texts of a pair: 2·LCS/(n+m) over units.
const AlikeLCS = 0.8

// unlikeLCS is the score below which two texts of a labelled pair are unlike. Between the two,
// nothing is expected of a method.
const unlikeLCS = 0.5

// A Pair is a labelled pair of documents.
type Pair struct {
	A, B, Label string
	Alike       bool // one of the two should go
	Unlike      bool // neither should go for the other
}

// Negative reports whether the texts are labelled as unlike: unrelated ones made to share two
// sentences, or sentences of different meaning.
func (p *Pair) Negative() bool {
	return strings.HasPrefix(p.Label, "hardneg") || p.Label == "0"
}

// positives are the labels of alike pairs, negatives those of unlike ones.
var (
	positives = []string{"1", "dup", "duplicate", "copy", "true", "yes", "positive"}
	negatives = []string{"0", "non", "none", "unlike", "false", "no", "negative"}
)

// An Alike selects alike pairs: by their measured scores, or by their labels.
type Alike uint8

const (
	// ByLCS uses the column lcs: pairs are alike from 0.8 on, and unlike below 0.5. Without that
	// column the labels decide.
	ByLCS Alike = iota
	// ByLabel uses the label alone.
	ByLabel
)

// ReadPairs reads pairs from a file of lines with tab-separated cells: id1, id2, label, and
// measured columns. The first line names the columns. A file ending in .gz is decompressed.
func ReadPairs(path string, by Alike) (pairs []Pair, err error) {
	lcs := -1
	err = readTable(path, 3, func(head []string) {
		if by == ByLCS {
			lcs = slices.Index(head, "lcs")
		}
	}, func(cells []string) error {
		p := Pair{A: cells[0], B: cells[1], Label: cells[2]}
		p.Unlike = p.Negative() || slices.Contains(negatives, strings.ToLower(p.Label))
		switch {
		case lcs >= len(cells):
			return fmt.Errorf("it has %d cells, and lcs is the %dth", len(cells), lcs+1)
		case lcs >= 0:
			v, err := strconv.ParseFloat(cells[lcs], 64)
			if err != nil {
				return err
			}
			p.Alike = v >= AlikeLCS
			p.Unlike = !p.Alike && (p.Unlike || v < unlikeLCS)
		default:
			p.Alike = slices.Contains(positives, strings.ToLower(p.Label))
			if !p.Alike && !p.Unlike {
				return fmt.Errorf("its label is %q: want one of %s, or of %s", p.Label, strings.Join(positives, ", "), strings.Join(negatives, ", "))
			}
		}
		pairs = append(pairs, p)
		return nil
	})
	return pairs, err
}

// ReadClusters reads the clusters of documents from a file of lines with tab-separated cells: id
// and cluster. It ignores other columns. The first line names them.
func ReadClusters(path string) (cluster map[string]string, err error) {
	cluster = map[string]string{}
	err = readTable(path, 2, func([]string) {}, func(cells []string) error {
		if other, twice := cluster[cells[0]]; twice && other != cells[1] {
			return fmt.Errorf("%s is in two clusters", cells[0])
		}
		cluster[cells[0]] = cells[1]
		return nil
	})
	return cluster, err
}

// maxLine is the maximum length of a line in a table of labels, in bytes.
const maxLine = 1 << 20

// readTable reads the head and the lines of a table, each with at least this many cells.
func readTable(path string, least int, head func([]string), row func(cells []string) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close() // only read
	var r io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		cells := strings.Split(strings.TrimSuffix(lines.Text(), "\r"), "\t")
		if len(cells) < least {
			return fmt.Errorf("%s:%d: want %d cells with tabs between them, and a first line with their names", path, n, least)
		}
		if n == 1 {
			head(cells)
		} else if err := row(cells); err != nil {
			return fmt.Errorf("%s:%d: %w", path, n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// SetClusters makes clusters the truth. A document in no cluster is alone.
func (s *Set) SetClusters(cluster map[string]string) error {
	numbers := map[string]int{}
	for _, name := range cluster {
		if _, ok := numbers[name]; !ok {
			numbers[name] = len(numbers)
		}
	}
	found := 0
	s.Cluster = make([]int, len(s.Docs))
	for i := range s.Docs {
		s.Cluster[i] = len(numbers) + i
		if name, ok := cluster[s.Docs[i].ID]; ok {
			s.Cluster[i] = numbers[name]
			found++
		}
	}
	if found < len(cluster) {
		return fmt.Errorf("%d of %d documents with a cluster are not among the documents: are the ids in another field?", len(cluster)-found, len(cluster))
	}
	s.Pairs = s.Pairs[:0]
	first := map[int]int{}
	for i, c := range s.Cluster {
		if j, ok := first[c]; ok {
			s.Pairs = append(s.Pairs, Pair{A: s.Docs[j].ID, B: s.Docs[i].ID, Label: "cluster", Alike: true})
		} else {
			first[c] = i
		}
	}
	return nil
}

// Complete declares the pairs complete: every other pair is unlike.
func (s *Set) Complete() {
	c := newClusters(len(s.Docs))
	for i := range s.Pairs {
		if s.Pairs[i].Alike {
			c.join(s.Of(&s.Pairs[i]))
		}
	}
	s.Cluster = c.all()
}

// Load prepares the set once it has its documents. Pairs of other documents are an error.
func (s *Set) Load() error {
	s.at, s.measured = map[string]int{}, map[[2]int]Likeness{}
	for i := range s.Docs {
		s.at[s.Docs[i].ID] = i
	}
	for i := range s.Pairs {
		for _, id := range []string{s.Pairs[i].A, s.Pairs[i].B} {
			if _, ok := s.at[id]; !ok {
				return fmt.Errorf("there is no document with the id %q of a pair: are the ids in another field?", id)
			}
		}
	}
	return nil
}

// Unload releases the documents and the data made by Load.
func (s *Set) Unload() { s.Docs, s.at, s.measured = nil, nil, nil }

// Of returns the positions of a pair's documents, in order.
func (s *Set) Of(p *Pair) (earlier, later int) {
	a, b := s.at[p.A], s.at[p.B]
	return min(a, b), max(a, b)
}
