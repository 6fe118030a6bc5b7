package index_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/firstseen/firstseen/index"
)

// temporary returns a folder for an example, and removes it at the end.
func temporary() (dir string, remove func()) {
	dir, err := os.MkdirTemp("", "seen-")
	if err != nil {
		log.Fatal(err)
	}
	return dir, func() { _ = os.RemoveAll(dir) }
}

// seeAll opens the index in dir, gives it the texts, and saves it.
func seeAll(dir string, texts ...string) (err error) {
	x, err := index.Open(context.Background(), dir, index.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	for i, text := range texts {
		r, err := x.See(fmt.Sprint("page ", i+1), []byte(text))
		if err != nil {
			return err
		}
		fmt.Printf("page %d: %v, kept: %v, of: %q\n", i+1, r.Verdict, r.Kept, r.Of.ID)
	}
	return x.Finish(nil) // makes the documents durable and saves the filter
}

// An index remembers documents in a directory for the next program that opens it.
func ExampleOpen() {
	dir, remove := temporary()
	defer remove()
	for range 2 {
		if err := seeAll(dir, "The ferry leaves the harbour at seven."); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// page 1: unique, kept: true, of: ""
	// page 1: duplicate, kept: false, of: "page 1"
}

// A crawler asks for each page whether to keep it. Width, case and punctuation make no difference.
func ExampleIndex_See() {
	dir, remove := temporary()
	defer remove()
	err := seeAll(dir,
		"The ferry leaves the harbour at seven. It returns long after nightfall, when the market has closed.",
		"A museum of clocks opened its doors on Wednesday, and nobody came on time.",
		"Notice! The FERRY leaves the harbour at seven; it returns long after nightfall, when the market has closed")
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// page 1: unique, kept: true, of: ""
	// page 2: unique, kept: true, of: ""
	// page 3: duplicate, kept: false, of: "page 1"
}

// A page that is gone from the web can be taken back. The next copy of its text is then kept.
func ExampleEditor_Forget() {
	dir, remove := temporary()
	defer remove()
	const text = "The ferry leaves the harbour at seven."
	if err := seeAll(dir, text); err != nil {
		log.Fatal(err)
	}
	e, err := index.Edit(dir)
	if err != nil {
		log.Fatal(err)
	}
	n, err := e.Forget("page 1")
	if err == nil {
		err = e.Save()
	}
	if err = errors.Join(err, e.Close()); err != nil {
		log.Fatal(err)
	}
	fmt.Println("taken back:", n)
	if err := seeAll(dir, text); err != nil {
		log.Fatal(err)
	}
	// Output:
	// page 1: unique, kept: true, of: ""
	// taken back: 1
	// page 1: unique, kept: true, of: ""
}
