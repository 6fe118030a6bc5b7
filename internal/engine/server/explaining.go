package server

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature/method"
	"github.com/firstseen/firstseen/internal/base/durable"
	"github.com/firstseen/firstseen/internal/engine/apply"
	"github.com/firstseen/firstseen/internal/engine/compare/explain"
	"github.com/firstseen/firstseen/internal/engine/compare/textdiff"
	"github.com/firstseen/firstseen/internal/engine/report"
)

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
