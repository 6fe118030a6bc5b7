// Package filetest has helpers for tests of files.
package filetest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Chdir changes to a temporary folder with files that each contain their own name. Relative names
// are short, and the same on every machine.
func Chdir(t *testing.T, files ...string) {
	t.Helper()
	t.Chdir(t.TempDir())
	named := map[string]string{}
	for _, name := range files {
		named[name] = name
	}
	Write(t, named)
}

// Must ends the test at the first error.
func Must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Lines returns about size bytes of JSON lines of about 4 KB each.
func Lines(text string, size int) []byte {
	var quoted bytes.Buffer
	enc := json.NewEncoder(&quoted)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(strings.Repeat(text, 1+4096/len(text))) // a string and a buffer: it never fails
	var data []byte
	for i := 0; len(data) < size; i++ {
		data = fmt.Appendf(data, `{"id":"doc-%d","source":"made","text":`, i)
		data = append(data, bytes.TrimSpace(quoted.Bytes())...)
		data = append(data, "}\n"...)
	}
	return data
}

// Write writes files and creates their folders.
func Write(t interface{ Fatal(...any) }, files map[string]string) {
	for name, content := range files {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, []byte(content), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
}

// KillSelf ends the process like a power cut: no deferred call runs. It returns only on failure.
func KillSelf() error {
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		return err
	}
	if err := self.Kill(); err != nil {
		return err
	}
	select {} // until the signal arrives
}
