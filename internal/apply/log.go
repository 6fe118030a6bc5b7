package apply

import "errors"

var (
	// ErrBusy means that too much work waits: try again later.
	ErrBusy = errors.New("too many requests wait: send this one again later")
	// ErrClosed means that the loop is closed.
	ErrClosed = errors.New("the server is going down: send this request again later")
	// ErrLater means that a log gives no answer now. The step may be in the log all the same.
	ErrLater = errors.New("the log gives no answer now: send this request again later")
	// ErrReadOnly means that a follower appends nothing.
	ErrReadOnly = errors.New("this follower only reads its log: give documents to firstseen serve --log, or append them to the topic")
	// ErrTooLong means that a step is longer than a record of the log may be.
	ErrTooLong = errors.New("the document is longer than a record of the log may be: raise max.message.bytes of the topic, or leave it out")
	// ErrGone means that a verdict is not in memory, or that the record has none.
	ErrGone = errors.New("the verdict is no longer in memory, or the record is settings: see the topic of firstseen follow --verdicts")
)
