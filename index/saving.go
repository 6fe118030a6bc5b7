package index

// Pieces, CopyPiece, Written and Install save the filter of an index without a table
// while a stream is added. The goroutine that decides serves both channels between two
// documents; they are nil while nothing is being saved:
//
//	case buf := <-x.Pieces():
//		err = x.CopyPiece(buf)
//	case err := <-x.Written():
//		err = x.Install(err)
func (x *Index) Pieces() <-chan []uint64 {
	if x.journal == nil || x.journal.saving == nil {
		return nil
	}
	return x.journal.saving.Ready()
}

// CopyPiece copies the next piece of the filter into a buffer from Pieces.
func (x *Index) CopyPiece(buf []uint64) error { return x.journal.copyPiece(buf) }

// Written gives, once, how the writing of the filter has ended. See Pieces.
func (x *Index) Written() <-chan error {
	if x.journal == nil || x.journal.saving == nil {
		return nil
	}
	return x.journal.saving.Done()
}

// Install puts the filter that was written in its place; err is from Written. It may
// hold bits of all documents until now, so their answers go out first.
func (x *Index) Install(err error) error {
	if err != nil {
		return err
	}
	if err := x.checkpoint(false); err != nil {
		return err
	}
	return x.journal.installSaved()
}

// serve does what Pieces and Written have, without waiting.
func (x *Index) serve() error {
	select {
	case buf := <-x.Pieces():
		return x.CopyPiece(buf)
	case err := <-x.Written():
		return x.Install(err)
	default:
		return nil
	}
}
