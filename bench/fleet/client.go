package fleet

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"path/filepath"
	"time"

	"github.com/firstseen/firstseen/client"
)

// together is the number of documents that a client submits at once.
const together = 5

// answer is an answer with the group of its text.
type answer struct {
	client.Answer
	group int
}

// give submits all texts to a front end: by HTTP, or by lines if the client's number is odd.
func (t *Trial) give(ctx context.Context, c int, n *node, at *progress) (answers []answer, err error) {
	order := t.order(c)
	web, err := client.New("unix:" + filepath.Join(t.Dir, n.name+".http"))
	if err != nil {
		return nil, err
	}
	for begun := 0; begun < len(order); begun += together {
		if err := wait(ctx, often, func() bool { return at.done.Load() < at.limit.Load() }); err != nil {
			return nil, err
		}
		var docs []client.Document
		for _, i := range order[begun:min(begun+together, len(order))] {
			docs = append(docs, client.Document{ID: fmt.Sprintf("%d/%d/%d", i/forms, i%forms, c), Text: text(i/forms, i%forms)})
		}
		var got []client.Answer
		if c%2 == 0 {
			got, err = web.See(ctx, docs)
		} else {
			got, err = byLines(ctx, filepath.Join(t.Dir, n.name+".lines"), docs)
		}
		if err != nil {
			return nil, fmt.Errorf("client %d: %w", c, err)
		}
		for i, a := range got {
			if a.ID != docs[i].ID {
				return nil, fmt.Errorf("client %d: the answer to %s is about %q", c, docs[i].ID, a.ID)
			}
			answers = append(answers, answer{a, order[begun+i] / forms})
		}
		at.done.Add(int64(len(docs)))
	}
	return answers, nil
}

// byLines sends documents to a line socket, and again until all are answered.
func byLines(ctx context.Context, socket string, docs []client.Document) (answers []client.Answer, err error) {
	for {
		if answers, err = tryLines(ctx, socket, docs); err == nil {
			return answers, nil
		}
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

func tryLines(ctx context.Context, socket string, docs []client.Document) (answers []client.Answer, err error) {
	c, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		return nil, err
	}
	enc := json.NewEncoder(c)
	for _, doc := range docs {
		if err := enc.Encode(doc); err != nil {
			return nil, err
		}
	}
	lines := bufio.NewScanner(c)
	for len(answers) < len(docs) && lines.Scan() {
		var line struct {
			ID     string        `json:"id"`
			Answer client.Answer `json:"firstseen"`
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			return nil, err
		}
		line.Answer.ID = line.ID
		answers = append(answers, line.Answer)
	}
	if len(answers) < len(docs) {
		return nil, fmt.Errorf("%d answers to %d lines", len(answers), len(docs))
	}
	return answers, nil
}
