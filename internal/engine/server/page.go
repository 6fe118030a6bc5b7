package server

import (
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature/method"
	"github.com/firstseen/firstseen/internal/base/durable"
	"github.com/firstseen/firstseen/internal/base/journal"
	"github.com/firstseen/firstseen/internal/engine/apply"
	"github.com/firstseen/firstseen/internal/engine/compare/explain"
	"github.com/firstseen/firstseen/internal/engine/compare/textdiff"
	"github.com/firstseen/firstseen/internal/engine/report"
)

// pagePattern is the pattern of the page for browsers.
const pagePattern = "GET /{$}"

// The page has no data of its own. It asks the interface, with the token that the user types in: a
// token in the address would stay in histories and in the logs of proxies.
var (
	//go:embed page.html
	pageHTML string
	//go:embed page.css
	pageCSS string
	//go:embed page.js
	pageJS string
)

// pagePolicy allows this style, this script, and requests to this server; nothing else.
var pagePolicy = "default-src 'none'; style-src " + hashOf(pageCSS) + "; script-src " + hashOf(pageJS) + "; connect-src 'self'; img-src data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

func hashOf(source string) string {
	sum := sha256.Sum256([]byte(source))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// servePage returns a handler for the page, which asks for the token if there is one.
func servePage(token string) http.HandlerFunc {
	page := strings.NewReplacer("{{token}}", map[bool]string{true: "needed"}[token != ""], "{{css}}", pageCSS, "{{js}}", pageJS).Replace(pageHTML)
	return func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Content-Security-Policy", pagePolicy)
		h.Set("Cache-Control", "no-cache")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Content-Type-Options", "nosniff")
		_, _ = io.WriteString(w, page) // the client may be gone
	}
}

const (
	// pageMemory bounds the memory for the page: lastTexts, the removals and one explanation.
	pageMemory = 48 << 20
	// lastTexts is the most bytes of the texts of kept documents, with their ids and 256 bytes each.
	lastTexts    = 16 << 20
	lastRemovals = 50
	maxShown     = 64 << 10 // bytes of a text
)

// recent holds the documents decided lately, for the page. A document that is forgotten
// leaves it too. It is safe for concurrent use.
type recent struct {
	mu       sync.Mutex
	minutes  [60]minute // by the minute, modulo 60
	removals []removal  // the latest last
	texts    []kept     // by number, which is the order of arrival
	bytes    int        // of texts
}

// minute counts the documents decided in a minute. The JSON form is a contract.
type minute struct {
	Time    int64  `json:"time"` // its beginning, Unix seconds
	Kept    uint64 `json:"kept"`
	Removed uint64 `json:"removed"`
	Again   uint64 `json:"again"`
}

// removal is a removed document. The JSON form is a contract.
type removal struct {
	Time  int64        `json:"time"` // of its decision, Unix seconds
	ID    string       `json:"id"`
	Of    string       `json:"of"`
	Exact bool         `json:"exact"`
	Score report.Share `json:"score"`
	kept               // its own text, and number and batch of the earlier document
}

// kept is a kept document with its text, or the beginning of it.
type kept struct {
	number          uint32
	id, batch, text string
	cut             bool
}

func (k *kept) size() int { return len(k.id) + len(k.batch) + len(k.text) + 256 }

// show sets the text, or its beginning.
func (k *kept) show(text []byte) {
	n := len(text)
	if k.cut = n > maxShown; k.cut {
		for n = maxShown; !utf8.RuneStart(text[n]); n-- {
		}
	}
	k.text = string(text[:n])
}

// decided notes the decision about a document. k has the number of a kept one, 0 if it is not stored,
// and its batch; of a removed one it has those of the earlier document.
func (p *recent) decided(s *apply.Step, r *dedup.Result, k kept) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now().Unix()
	m := &p.minutes[now/60%60]
	if m.Time != now/60*60 {
		*m = minute{Time: now / 60 * 60}
	}
	k.id = s.ID
	switch {
	case r.Again:
		m.Again++
		return
	case r.Kept:
		if m.Kept++; k.number == 0 {
			return
		}
		k.show(s.Text)
		p.texts = append(p.texts, k)
		for p.bytes += k.size(); p.bytes > lastTexts; p.texts = p.texts[1:] {
			p.bytes -= p.texts[0].size()
			p.texts[0] = kept{}
		}
		return
	}
	m.Removed++
	k.show(s.Text)
	if len(p.removals) == lastRemovals {
		p.removals = slices.Delete(p.removals, 0, 1)
	}
	p.removals = append(p.removals, removal{now, s.ID, r.Of.ID, r.Exact, report.Share(r.Score), k})
}

// forget drops what belongs to the documents that a step takes back, and to their copies.
func (p *recent) forget(s *apply.Step) {
	p.mu.Lock()
	defer p.mu.Unlock()
	gone := func(k *kept) bool {
		if s.Kind == journal.Cancelled {
			return k.batch == s.ID
		}
		return k.id == s.ID
	}
	p.texts = slices.DeleteFunc(p.texts, func(k kept) bool {
		if gone(&k) {
			p.bytes -= k.size()
		}
		return gone(&k)
	})
	p.removals = slices.DeleteFunc(p.removals, func(r removal) bool {
		return gone(&r.kept) || s.Kind == journal.Forgotten && r.Of == s.ID
	})
}

// textOf returns the text of a kept document, by its number, if it is there.
func (p *recent) textOf(number uint32) (kept, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i, found := slices.BinarySearchFunc(p.texts, number, func(k kept, n uint32) int { return cmp.Compare(k.number, n) })
	if !found {
		return kept{}, false
	}
	return p.texts[i], true
}

// lately is the answer of /v1/recent. The JSON form is a contract.
type lately struct {
	Since    int64     `json:"since"`    // start of the server, Unix seconds
	Minutes  []minute  `json:"minutes"`  // those of the last hour that have a document, the oldest first
	Removals []removal `json:"removals"` // the latest first
	Texts    int       `json:"texts"`    // number of kept documents whose texts can be shown
	Free     uint64    `json:"free_bytes"`
}

func (p *recent) lately(now time.Time) *lately {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := &lately{Since: started.Unix(), Minutes: []minute{}, Removals: append([]removal{}, p.removals...), Texts: len(p.texts)}
	slices.Reverse(l.Removals)
	for i := range int64(60) {
		if m := p.minutes[(now.Unix()/60+1+i)%60]; m.Time > now.Unix()-3600 {
			l.Minutes = append(l.Minutes, m)
		}
	}
	return l
}

// explained is the answer of /v1/explain. The JSON form is a contract, but for text in Reasons.
type explained struct {
	Report  *report.Reported `json:"report,omitempty"`  // of a text, as from /v1/see with report=1
	Removal *removal         `json:"removal,omitempty"` // of the id of a removed document
	Stored  *stored          `json:"stored,omitempty"`  // of the id of a kept document
	Later   side             `json:"later"`
	Earlier *side            `json:"earlier,omitempty"` // if there is one
	Reasons []method.Reason  `json:"reasons,omitempty"` // if both texts are there and whole
}

// side is one of two texts, or the reason why it is not shown.
type side struct {
	ID    string          `json:"id"`
	Parts []textdiff.Part `json:"parts,omitempty"`
	Cut   bool            `json:"cut,omitempty"` // the text has more than is shown
	Why   string          `json:"why,omitempty"`
}

// sideOf returns the only text to show, or the reason why it is not there.
func sideOf(id string, k kept, there bool) side {
	if !there {
		return side{ID: id, Why: "its text is not in the memory of this server, which has only the latest ones that came to it"}
	}
	return side{ID: id, Parts: []textdiff.Part{{Text: k.text}}, Cut: k.cut}
}

// serveExplain judges a text without remembering it, and shows the earlier document beside it. With
// find=1 the text may be the id of a document.
func (s *Service) serveExplain(w http.ResponseWriter, r *http.Request) (any, error) {
	body, leave, err := s.enter(w, r)
	if err != nil {
		return nil, err
	}
	defer leave()
	q := r.URL.Query()
	if q.Get("find") == "1" && len(body) <= corpus.MaxID {
		if e, err := s.explainID(strings.TrimSpace(string(body))); e != nil || err != nil {
			return e, err
		}
	}
	docs, err := plainText(body, q.Get("id"), false)
	if err != nil {
		return nil, err
	}
	s.extractors.Sketch(docs...)
	doc := docs[0]
	e, of := &explained{Report: new(report.Reported)}, dedup.Source{}
	err = s.decider.Do(func() error {
		found, err := s.cfg.Index.Check(doc.ID, &doc.Sketch)
		of = found.Of
		*e.Report = report.Report(&found, doc.ID, &doc.Sketch, doc.Text)
		return err
	})
	if err != nil {
		return nil, err
	}
	var later kept
	later.show(doc.Text)
	return e, s.beside(e, doc.ID, later, of)
}

// explainID explains the latest document of an id. It returns nil if none is known.
func (s *Service) explainID(id string) (*explained, error) {
	for _, gone := range s.recent.lately(time.Now()).Removals {
		if gone.ID == id {
			e := &explained{Removal: &gone}
			return e, s.beside(e, id, gone.kept, dedup.Source{Num: gone.number, ID: gone.Of})
		}
	}
	found, err := s.storedOf(id)
	if none := (*problem)(nil); errors.As(err, &none) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	last := &found[len(found)-1]
	text, there := s.recent.textOf(last.Number)
	return &explained{Stored: last, Later: sideOf(id, text, there)}, nil
}

// beside adds both texts and the reasons. Without an earlier document, of is zero.
func (s *Service) beside(e *explained, id string, later kept, of dedup.Source) error {
	if e.Later = sideOf(id, later, true); of.Num == 0 {
		return nil
	}
	earlier, there := s.recent.textOf(of.Num)
	other := sideOf(of.ID, earlier, there)
	if e.Earlier = &other; !there {
		return nil
	}
	if !s.explaining.TryLock() { // it may take a second
		return apply.ErrBusy
	}
	defer s.explaining.Unlock()
	e.Later.Parts, e.Earlier.Parts = textdiff.Parts(later.text, earlier.text)
	if later.cut || earlier.cut {
		return nil
	}
	pair, err := explain.Pair(
		explain.Document{ID: of.ID, Text: earlier.text}, explain.Document{ID: id, Text: later.text},
		explain.Rules{Scheme: s.cfg.Index.Scheme(), Rules: s.cfg.Policy.Rules},
	)
	if err != nil {
		return fmt.Errorf("explaining: %w", err)
	}
	e.Reasons = pair.Reasons
	return nil
}

func (s *Service) serveRecent(http.ResponseWriter, *http.Request) (any, error) {
	l := s.recent.lately(time.Now())
	l.Free, _ = durable.Room(s.cfg.Dir) // 0 if it is unknown
	return l, nil
}

// athome refuses texts to a page of another site whose name was made to lead here. A token keeps it
// out as well, and a browser does not reach a unix socket.
func athome(token string, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		host := (&url.URL{Host: r.Host}).Hostname()
		_, notAddress := netip.ParseAddr(host)
		local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
		if token == "" && host != "localhost" && notAddress != nil && (local == nil || local.Network() != "unix") {
			fail(w, refuse(http.StatusForbidden, "under the name %s this server shows texts only with --token-file; without it ask 127.0.0.1 or localhost", r.Host))
			return
		}
		next(w, r)
	}
}
