// The part of Copy that is the same whatever instructions there are: arithmetic with masks of
// a block of 64 bytes. It is included by a function for each sort of vectors, which defines
//
//	MASK(c, register)     a bit for each byte in ASCII of the class c
//	JOINING(register)     the same for all classes of what may join: Symbol, Dot, Comma, Quote
//	PUT(what, register)   writes what over the bytes of the form of which the mask has bits
//
// and has, behind the body,
//
//	classify   reads the block and finds classes and form: DX no ASCII. Then to classified. R12,
//	           R13 and BX stay
//	wide       for a block in which not all is ASCII, or that stands behind Han: puts DX into
//	           other, BX into ahead, and finds at first bytes of characters of three: BX Han, CX
//	           what separates, DX white space, R11 what may join a number, R14 what may join a
//	           word. Then to found
//	write      writes the bytes of the form that BX has, a space before those that R12 has, and
//	           goes on with DI. Then to next. R11 stays
//
// All through: SI the block, R8 how many bytes are left from there on, DI where to write, R9 where
// the next start goes, R10 the classes, R15 how many Han characters were read. On the stack are
// masks of the block before, of which the highest bit counts: letters, digits, symbols, gaps
// (what becomes a space), separators (also those with blanks behind them), and han (also with
// blanks behind it, which go). AX, and what is not named, may be changed by anyone.

// The size of a Start.
#define START 12

// BEHIND moves a mask by one byte, with the last of the block before. It changes AX.
#define BEHIND(before, mask, register) \
	MOVQ before, AX       \
	MOVQ mask, register   \
	SHLQ $1, AX, register

	MOVQ dst+8(FP), DI
	MOVQ text+16(FP), SI
	MOVQ size+24(FP), R8
	MOVQ starts+32(FP), R9
	XORL R15, R15

	// Before the text is a separator, and a space was written.
	XORL AX, AX
	MOVQ AX, letters-8(SP)
	MOVQ AX, digits-16(SP)
	MOVQ AX, symbols-24(SP)
	MOVQ AX, han-56(SP)
	NOTQ AX
	MOVQ AX, gaps-32(SP)
	MOVQ AX, separators-40(SP)

block:
	// R12, R13, BX: whether the byte behind the block is a letter, a digit, no ASCII. Behind the
	// text there is nothing.
	XORL R12, R12
	XORL R13, R13
	XORL BX, BX
	CMPQ R8, $64
	JLE  classify
	MOVBLZX 64(SI), AX
	MOVL    AX, BX
	SHRL    $7, BX
	ANDL    $0x7F, AX
	MOVBLZX CLASS(R10)(AX*1), R12
	XORL    AX, AX
	TESTL   BX, BX
	CMOVLNE AX, R12
	MOVL    R12, R13
	SHRL    $1, R13
	JMP     classify

classified:
	MOVQ      han-56(SP), AX
	SHRQ      $63, AX
	ORQ       DX, AX
	JNZ       wide

	// What joins a number or a word: AX. What has to be left to others: BX.
	XORL R11, R11
	SHRQ $1, BX, R11 // no ASCII behind
	JOINING(BX)
	ANDQ R11, BX

	MASK(DIGIT, DX)
	MOVQ DX, R11
	SHRQ $1, R13, R11 // before a digit
	BEHIND(digits-16(SP), DX, R13)
	MOVQ DX, digits-16(SP)
	ANDQ R13, R11
	MASK(COMMA, AX)
	ANDQ R11, AX
	ORQ  AX, BX // a comma between digits
	MASK(DOT, R13)
	ANDQ R11, R13

	MASK(LETTER, CX)
	MOVQ CX, R11
	SHRQ $1, R12, R11
	BEHIND(letters-8(SP), CX, R12)
	MOVQ CX, letters-8(SP)
	ANDQ R12, R11
	MASK(QUOTE, AX)
	ANDQ R11, AX
	ORQ  R13, AX

	// R11: how many bytes of the block count. CX: bytes of words. DX: symbols. R12: blanks.
	TZCNTQ  BX, R11
	CMPQ    R11, R8
	CMOVQGT R8, R11
	ORQ     DX, CX
	ORQ     AX, CX
	MASK(SYMBOL, DX)
	MASK(BLANK, R12)
	BZHIQ   R11, CX, CX
	BZHIQ   R11, DX, DX
	BZHIQ   R11, R12, R12

	// BX: all others, of which the first of each run becomes a space.
	MOVQ  CX, AX
	ORQ   DX, AX
	NOTQ  AX
	BZHIQ R11, AX, BX
	PUT(SPACES, BX)

	// R14: what separates: others and symbols without blanks.
	MOVQ  BX, R14
	ORQ   DX, R14
	ANDNQ R14, R12, R14

	// R13: where a piece may start: behind a separator, and the blanks after one. The sum carries
	// from the first of such blanks to what is behind the last.
	BEHIND(separators-40(SP), R14, R13)
	MOVQ  R13, AX
	ANDQ  R12, AX
	ADDQ  R12, AX
	JCC   carried
	BTSQ  $63, R14 // out of the block

carried:
	MOVQ  R14, separators-40(SP)
	ANDNQ AX, R12, AX
	ORQ   AX, R13
	MOVQ  R13, behind-48(SP)
	ANDQ  CX, R13

	// R12: the spaces to put before symbols, and behind them. BX: what is kept.
	BEHIND(gaps-32(SP), BX, R14)
	MOVQ  BX, gaps-32(SP)
	ANDNQ BX, R14, BX // the first of a run
	ANDNQ DX, R14, R12
	BEHIND(symbols-24(SP), DX, R14)
	MOVQ  DX, symbols-24(SP)
	ANDQ  CX, R14
	ORQ   R14, R12
	ORQ   DX, BX
	ORQ   CX, BX

	// R13: starts of pieces and symbols.
	ORQ   DX, R13
	JZ    write
	MOVQ  DI, DX
	SUBQ  dst+8(FP), DX
	DECQ  DX
	MOVQ  SI, CX
	SUBQ  text+16(FP), CX

start:
	BLSMSKQ R13, AX
	MOVQ    AX, R14
	ANDQ    BX, AX
	ANDQ    R12, R14
	POPCNTQ AX, AX
	POPCNTQ R14, R14
	ADDQ    DX, AX
	ADDQ    R14, AX
	MOVL    AX, (R9)
	TZCNTQ  R13, R14
	ADDQ    CX, R14
	MOVL    R14, 4(R9)
	MOVL    R15, 8(R9)
	ADDQ    $START, R9
	BLSRQ   R13, R13
	JNZ     start

	JMP write

next:
	CMPQ R11, $64
	JLT  stopped
	ADDQ $64, SI
	SUBQ $64, R8
	JNZ  block

	// The text ends with the block.
	XORL R11, R11
	MOVQ separators-40(SP), AX
	SHRQ $63, AX
	JMP  return

stopped:
	MOVQ behind-48(SP), AX
	SHRXQ R11, AX, AX
	ANDL $1, AX
	JMP  return

found:
	// Where the block is cut, to be gone on with as a new one: before a character that does not
	// end in it, or whose next byte is not in it. Behind the text there is nothing.
	MOVQ $-1, AX
	CMPQ R8, $64
	JLE  uncut
	MOVQ BX, AX
	ORQ  CX, AX
	ORQ  DX, AX
	SHRQ $62, AX
	SHLQ $62, AX
	MOVQ AX, cut-88(SP)
	MOVQ R11, AX
	ORQ  R14, AX
	SHRQ $61, AX
	SHLQ $61, AX
	ORQ  cut-88(SP), AX
	MOVQ AX, cut-88(SP)
	JOINING(AX)
	SHRQ $63, AX
	ANDQ ahead-80(SP), AX
	SHLQ $63, AX
	ORQ  cut-88(SP), AX
	TZCNTQ AX, AX

uncut:
	MOVQ AX, cut-88(SP)

	// What is none of these: other. It is left to others.
	MOVQ BX, han3-96(SP)
	MOVQ DX, blank3-104(SP)
	MOVQ R14, quote-112(SP)
	MOVQ R11, number-120(SP)
	MOVQ BX, AX
	ORQ  CX, AX
	ORQ  DX, AX
	ORQ  R11, AX
	ORQ  R14, AX
	MOVQ AX, R11
	SHLQ $1, R11
	ORQ  R11, AX
	SHLQ $1, R11
	ORQ  R11, AX
	MOVQ other-72(SP), DX
	ANDNQ DX, AX, DX
	MOVQ DX, other-72(SP)

	// BX: what has to be left to others. CX: bytes of words.
	MOVQ DX, BX
	SHRQ $1, BX
	JOINING(AX)
	ANDQ AX, BX // it follows
	ORQ  DX, BX

	MASK(DIGIT, CX)
	MOVQ CX, R11
	SHRQ $1, R13, R11
	BEHIND(digits-16(SP), CX, R13)
	MOVQ CX, digits-16(SP)
	MOVQ CX, R14
	ORQ  DX, R14
	SHRQ $3, R14
	ANDQ R13, R14
	ANDQ number-120(SP), R14
	ORQ  R14, BX // between digits
	ANDQ R13, R11
	MASK(COMMA, AX)
	ANDQ R11, AX
	ORQ  AX, BX
	MASK(DOT, AX)
	ANDQ R11, AX
	ORQ  AX, CX

	MASK(LETTER, R13)
	MOVQ R13, R11
	SHRQ $1, R12, R11
	BEHIND(letters-8(SP), R13, R12)
	MOVQ R13, letters-8(SP)
	ORQ  R13, CX
	ANDQ R12, R11
	MASK(QUOTE, AX)
	ANDQ AX, R11
	ORQ  R11, CX
	ANDQ quote-112(SP), R12 // behind a letter
	SHRQ $3, DX
	ANDQ R12, DX
	ORQ  DX, BX
	SHRQ $3, R13
	ANDQ R13, R12 // and before one
	MOVQ R12, quote-112(SP)
	PUT(APOSTROPHE, R12)
	MOVQ R12, AX
	SHLQ $1, AX
	ORQ  AX, R12
	SHLQ $1, AX
	ORQ  AX, R12
	ORQ  R12, CX

	// DX: blanks. R12: bytes of Han. R13: those of other words.
	MASK(BLANK, DX)
	MOVQ blank3-104(SP), AX
	ORQ  AX, DX
	SHLQ $1, AX
	ORQ  AX, DX
	SHLQ $1, AX
	ORQ  AX, DX
	MOVQ han3-96(SP), R12
	MOVQ R12, AX
	SHLQ $1, AX
	ORQ  AX, R12
	SHLQ $1, AX
	ORQ  AX, R12
	MOVQ CX, R13
	ORQ  R12, CX

	// A space before Han goes, if the word before is at hand; if there are more spaces, others
	// have to see to that. R11: blanks behind a word that is not Han, up to what is no blank.
	MOVQ gaps-32(SP), R11
	ORQ  symbols-24(SP), R11
	ORQ  han-56(SP), R11
	NOTQ R11
	MOVQ R13, R14
	SHLQ $1, R11, R14 // behind such a word
	ANDQ DX, R14
	MOVQ han3-96(SP), AX
	SHRQ $1, AX
	ANDQ R14, AX
	MOVQ AX, dropped-128(SP)
	MOVQ separators-40(SP), R11
	NOTQ R11
	ANDQ gaps-32(SP), R11
	SHRQ $63, R11 // or behind one with blanks, in the block before
	MOVQ R11, AX
	ANDQ han3-96(SP), AX
	SUBQ AX, DI // a space was written that goes
	ANDQ DX, R11
	ORQ  R11, R14
	MOVQ R14, R11
	ADDQ DX, R11
	ANDNQ R11, DX, R11
	SUBQ R14, R11
	ANDQ DX, R11
	MOVQ blank3-104(SP), R14
	ANDQ R11, R14
	ORQ  R14, BX
	MOVQ han3-96(SP), AX
	SHRQ $1, AX
	ANDQ AX, R11
	MOVQ dropped-128(SP), AX
	ANDNQ R11, AX, R11
	ORQ  R11, BX

	// R11: how many bytes count.
	TZCNTQ  BX, R11
	CMPQ    R11, R8
	CMOVQGT R8, R11
	MOVQ    cut-88(SP), AX
	CMPQ    R11, AX
	SETCS   BX // it is no cut. AX is all ones where there is none
	CMOVQCC AX, R11
	MOVBLZX BX, BX
	MOVQ    BX, cut-88(SP)
	MASK(SYMBOL, R14)
	BZHIQ   R11, CX, CX
	BZHIQ   R11, DX, DX
	BZHIQ   R11, R12, R12
	BZHIQ   R11, R14, R14
	MOVQ    R14, symbol-136(SP)
	MOVQ    han3-96(SP), AX
	BZHIQ   R11, AX, AX
	MOVQ    AX, han3-96(SP)

	// R13: where a piece may start. BX: what separates.
	MOVQ  CX, BX
	NOTQ  BX
	ANDNQ BX, DX, BX
	BZHIQ R11, BX, BX
	BEHIND(separators-40(SP), BX, R13)
	MOVQ  R13, AX
	ANDQ  DX, AX
	ADDQ  DX, AX
	JCC   within
	BTSQ  $63, BX

within:
	ANDNQ AX, DX, AX
	ORQ   AX, R13
	MOVQ  R13, behind-48(SP)
	MOVQ  BX, separators-40(SP)

	// Blanks behind Han go, and what is behind them is behind Han.
	BEHIND(han-56(SP), R12, BX)
	ANDQ  DX, BX
	MOVQ  BX, AX
	ADDQ  DX, AX
	ANDNQ AX, DX, AX
	SUBQ  BX, AX
	ANDQ  DX, AX
	PUT(BYTES, R12)
	ORQ   AX, R12
	MOVQ  R12, han-56(SP)
	ORQ   dropped-128(SP), AX

	// BX: what becomes a space, the first of each run. DX: symbols.
	MOVQ  symbol-136(SP), DX
	ORQ   CX, AX
	ORQ   DX, AX
	NOTQ  AX
	BZHIQ R11, AX, BX
	PUT(SPACES, BX)
	ANDQ  CX, R13
	BEHIND(gaps-32(SP), BX, R14)
	MOVQ  BX, gaps-32(SP)
	ANDNQ BX, R14, BX
	ANDNQ DX, R14, R12
	BEHIND(symbols-24(SP), DX, R14)
	MOVQ  DX, symbols-24(SP)
	ANDQ  CX, R14
	ORQ   R14, R12
	ORQ   DX, BX
	ORQ   CX, BX
	MOVQ  quote-112(SP), AX // of which one byte is kept
	SHLQ  $1, AX
	ANDNQ BX, AX, BX
	SHLQ  $1, AX
	ANDNQ BX, AX, BX

	ORQ   DX, R13
	JZ    count
	MOVQ  DI, DX
	SUBQ  dst+8(FP), DX
	DECQ  DX
	MOVQ  SI, CX
	SUBQ  text+16(FP), CX

startWide:
	BLSMSKQ R13, AX
	MOVQ    AX, R14
	ANDQ    BX, AX
	ANDQ    R12, R14
	POPCNTQ AX, AX
	POPCNTQ R14, R14
	ADDQ    DX, AX
	ADDQ    R14, AX
	MOVL    AX, (R9)
	TZCNTQ  R13, R14
	ADDQ    CX, R14
	MOVL    R14, 4(R9)
	BLSIQ   R13, AX
	DECQ    AX
	ANDQ    han3-96(SP), AX
	POPCNTQ AX, AX
	ADDQ    R15, AX
	MOVL    AX, 8(R9)
	ADDQ    $START, R9
	BLSRQ   R13, R13
	JNZ     startWide

count:
	POPCNTQ han3-96(SP), AX
	ADDQ    AX, R15
	CMPQ    R11, $64
	JEQ     write
	MOVQ    cut-88(SP), AX
	TESTQ   AX, AX
	JNZ     write

	// The block goes on as a new one: its last byte has to be where that of a whole one is.
	MOVQ  behind-48(SP), AX
	SHRXQ R11, AX, AX
	SHLQ  $63, AX
	MOVQ  AX, separators-40(SP)
	MOVL  $64, CX
	SUBQ  R11, CX
	MOVQ  letters-8(SP), AX
	SHLXQ CX, AX, AX
	MOVQ  AX, letters-8(SP)
	MOVQ  digits-16(SP), AX
	SHLXQ CX, AX, AX
	MOVQ  AX, digits-16(SP)
	MOVQ  symbols-24(SP), AX
	SHLXQ CX, AX, AX
	MOVQ  AX, symbols-24(SP)
	MOVQ  gaps-32(SP), AX
	SHLXQ CX, AX, AX
	MOVQ  AX, gaps-32(SP)
	MOVQ  han-56(SP), AX
	SHLXQ CX, AX, AX
	MOVQ  AX, han-56(SP)

	// Go back, so that the next block begins behind what counts.
	SUBQ  CX, SI
	ADDQ  CX, R8
	MOVL  $64, R11
	JMP   write

return:
	VZEROUPPER
	MOVB AX, separated+72(FP)
	ADDQ R11, SI
	SUBQ text+16(FP), SI
	MOVQ SI, read+40(FP)
	SUBQ dst+8(FP), DI
	MOVQ DI, written+48(FP)
	SUBQ starts+32(FP), R9
	MOVQ R9, starting+56(FP)
	MOVQ R15, wide+64(FP)
	RET
