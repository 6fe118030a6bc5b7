// Package csv reads tables in text: CSV and TSV, each row of which is a document.
//
// The rules are those of RFC 4180, as tables are met. The first row that is not empty has
// the names of the columns. Fields are separated by comma, tab, semicolon or pipe: by
// that under which the first row names the column of the text; the first of these, where
// several do. Rows end with LF or CR LF. A field that begins with a quote (") ends at the
// next one that is not doubled, and may hold delimiters and line ends; in any other field
// a quote is a character like others. Spaces belong to the fields. Rows of nothing but a
// line end are passed over.
//
// Between tabs, a text that does not begin with a quote may have line ends and tabs as \n, \r
// and \t, and backslashes as \\, as databases and jq @tsv write it. It is read so where every
// backslash in it begins one of these; any other text is as it is. What is written, and an id,
// are as they came.
//
// A row is a bad record where it has not as many fields as the first row, is not UTF-8,
// has something behind a closing quote, or a quote that is not closed in as many bytes as
// a record may have. Behind the last two, reading goes on at the next line, since where
// the row should have ended cannot be told.
//
// The place of a row is the line of the file in which it begins. Kept rows are written as
// they came, behind the first row of their input; annotated, all are, with three columns more.
package csv
