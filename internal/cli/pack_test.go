package cli

import (
	"archive/tar"
	"bytes"
	"os"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/firstseen/firstseen/internal/testing/corpustest"
)

func init() {
	scriptCommands["pack"] = scriptPack
	scriptCommands["links"] = scriptLinks
	scriptCommands["cut"] = scriptCut
}

// scriptPack packs a folder into an archive.
func scriptPack(ts *testscript.TestScript, neg bool, args []string) {
	check(ts, neg, args, 2, "pack archive folder")
	ts.Check(corpustest.Pack(ts.MkAbs(args[0]), ts.MkAbs(args[1])))
}

// scriptLinks makes a tar archive of a link, a pipe, a device and a file named ../../up.jsonl.
func scriptLinks(ts *testscript.TestScript, neg bool, args []string) {
	check(ts, neg, args, 1, "links archive")
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	line := []byte(`{"id":"one","text":"some text"}` + "\n")
	for _, h := range []tar.Header{
		{Name: "../../up.jsonl", Typeflag: tar.TypeReg, Size: int64(len(line))},
		{Name: "a.jsonl", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"},
		{Name: "pipe.jsonl", Typeflag: tar.TypeFifo},
		{Name: "device.jsonl", Typeflag: tar.TypeChar},
	} {
		ts.Check(w.WriteHeader(&h))
		_, err := w.Write(line[:h.Size])
		ts.Check(err)
	}
	ts.Check(w.Close())
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b.Bytes(), 0o666))
}

// scriptCut cuts off the second half of a file.
func scriptCut(ts *testscript.TestScript, neg bool, args []string) {
	check(ts, neg, args, 1, "cut file")
	ts.Check(os.Truncate(ts.MkAbs(args[0]), int64(len(ts.ReadFile(args[0]))/2)))
}
