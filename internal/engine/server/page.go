package server

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"io"
	"net/http"
	"strings"
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
