// Package eval measures the removals of methods from labelled documents: how many are right, and
// how many wrong.
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

// A Set is documents, with labels or none.
type Set struct {
	Name  string
	Docs  []Doc
	Pairs []Pair
	// Cluster of each document, if all of them are known; nil: the pairs decide. Then each pair of
	// documents without a label is left out of the precision.
	Cluster []int
	// Frame reports, for a grey removal, whether the witness is another page of the same work, by
	// the ids; nil if the ids do not say.
	Frame func(id, witness string) bool
	// Origin is the source that the text of each document was made from, if known: a removal with a
	// witness of another origin is false. nil: by likeness.
	Origin []int

	at       map[string]int // id → position in Docs
	measured map[[2]int]Likeness
}

// AlikeLCS is the least score of two alike texts of a pair: 2·LCS/(n+m) over units.
const AlikeLCS = 0.8

// unlikeLCS is below which the two texts of a labelled pair are unlike. Between the two
// nothing is expected of a method.
const unlikeLCS = 0.5

// A Pair is a labelled pair of documents.
type Pair struct {
	A, B, Label string
	Alike       bool // one of the two should go
	Unlike      bool // neither should go for the other
}

// Negative reports whether the texts are labelled as unlike: as unrelated ones made to
// share two sentences, or sentences that mean different things.
func (p *Pair) Negative() bool {
	return strings.HasPrefix(p.Label, "hardneg") || p.Label == "0"
}

// positives are the labels of alike pairs, negatives those of unlike ones.
var (
	positives = []string{"1", "dup", "duplicate", "copy", "true", "yes", "positive"}
	negatives = []string{"0", "non", "none", "unlike", "false", "no", "negative"}
)

// An Alike says which pairs are alike: by their measured scores, or by their labels.
type Alike uint8

const (
	// ByLCS: a column lcs from 0.8 on; below 0.5 they are unlike. Without that column by
	// the labels.
	ByLCS Alike = iota
	// ByLabel: the label alone says so.
	ByLabel
)

// ReadPairs reads pairs from a file of lines with tabs between cells: id1, id2, label, and measured
// columns. The first line has the names of the columns. A name ending in .gz is unpacked.
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

// ReadClusters reads the clusters of documents from a file of lines with tabs between cells:
// id and cluster, others are passed over. The first line names them.
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

// maxLine is the longest line of a table of labels, in bytes.
const maxLine = 1 << 20

// readTable reads the lines of a table with at least so many cells, and its head.
func readTable(path string, least int, head func([]string), row func(cells []string) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close() // it was only read
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

// SetClusters makes clusters the truth: every document in no cluster is alone.
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

// Complete says that the pairs are all there are: every other pair is unlike.
func (s *Set) Complete() {
	c := newClusters(len(s.Docs))
	for i := range s.Pairs {
		if s.Pairs[i].Alike {
			c.join(s.Of(&s.Pairs[i]))
		}
	}
	s.Cluster = c.all()
}

// Load prepares the set, once its documents are there. Pairs of documents that are not
// among them are an error.
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

// Unload lets go of the documents, and of what Load has made.
func (s *Set) Unload() { s.Docs, s.at, s.measured = nil, nil, nil }

// Of are the positions of a pair's documents, in order.
func (s *Set) Of(p *Pair) (earlier, later int) {
	a, b := s.at[p.A], s.at[p.B]
	return min(a, b), max(a, b)
}
