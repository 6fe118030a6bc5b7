package short_test

import (
	"testing"

	"github.com/firstseen/firstseen/feature/short"
)

var posts = []string{
	"地点在市中心，出行方便，服务态度好。住豪华标间，宽敞，重装修较新！",
	"地点在市中心，出行很方便，服务态度好。住豪华标间，宽敞，重装修新 http://t.cn/abc",
	"地点在城市的东边，出行不便，服务态度好。住豪华标间，但是早餐一般",
}

func BenchmarkPost(b *testing.B) {
	m, j := short.NewMaker(), &short.Judge{}
	var records [][]byte
	var texts [][]byte
	for _, p := range posts {
		m.Extract([]byte(p))
		records, texts = append(records, m.AppendRecord(nil)), append(texts, []byte(p))
	}
	keys, record := make([]uint64, 0, 16), make([]byte, 0, 1024)
	b.ReportAllocs()
	for b.Loop() {
		m.Extract(texts[0])
		keys, record = m.AppendKeys(keys[:0]), m.AppendRecord(record[:0])
		if j.Load(record) != nil {
			b.Fatal()
		}
		for _, r := range records[1:] {
			if _, err := j.Compare(r, .6); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkExtract(b *testing.B) {
	m := short.NewMaker()
	text := []byte(posts[0])
	b.ReportAllocs()
	for b.Loop() {
		m.Extract(text)
	}
}
