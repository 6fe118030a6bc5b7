// The part of Copy common to all instruction sets: arithmetic with masks of a block of 64 bytes. A
// function for each size of vectors includes it. That function defines
//
//	MASK(c, register)     one bit for each ASCII byte of the class c
//	JOINING(register)     the same for all classes that may join: Symbol, Dot, Comma, Quote
//	PUT(what, register)   writes what over the bytes of the form selected by the mask
//
// and, after the body, has these parts:
//
//	classify   Reads the block and finds its classes, its form, and non-ASCII bytes (DX). Jumps to
//	           classified. Preserves R12, R13 and BX.
//	wide       Handles a block that is not all ASCII or that follows Han. Stores DX in other and
//	           BX in ahead. Marks the first bytes of characters of three bytes: Han (BX),
//	           separators (CX), white space (DX), joiners of a number (R11) and of a word (R14).
//	           Jumps to found.
//	write      Writes the bytes of the form selected by BX, with a space before those selected by
//	           R12, and advances DI. Jumps to next. Preserves R11.
//
// Throughout: SI the block, R8 the number of bytes left from there on, DI the output, R9 the place of
// the next start, R10 the classes, R15 the number of Han characters read. The stack has masks of the
// previous block, whose highest bit counts: letters, digits, symbols, gaps (bytes that become a
// space), separators (also with blanks after them), and han (also with blanks after it, which are
// dropped). Any code may change AX and registers not named here.

// The size of a Start.
#define START 12

// BEHIND shifts a mask by one byte, and inserts the last bit of the previous block. It changes AX.
#define BEHIND(before, mask, register) \
	MOVQ before, AX       \
	MOVQ mask, register   \
	SHLQ $1, AX, register

	MOVQ dst+8(FP), DI
	MOVQ text+16(FP), SI
	MOVQ size+24(FP), R8
	MOVQ starts+32(FP), R9
	XORL R15, R15

	// As if a separator preceded the text, and a space was written.
	XORL AX, AX
	MOVQ AX, letters-8(SP)
	MOVQ AX, digits-16(SP)
	MOVQ AX, symbols-24(SP)
	MOVQ AX, han-56(SP)
	NOTQ AX
	MOVQ AX, gaps-32(SP)
	MOVQ AX, separators-40(SP)

block:
	// R12, R13, BX: set if the byte after the block is a letter, a digit, not ASCII. After the text
	// they are clear.
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

	// AX: bytes that join a number or a word. BX: bytes that other code must handle.
	XORL R11, R11
	SHRQ $1, BX, R11 // before a non-ASCII byte
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

	// R11: the number of bytes that count. CX: bytes of words. DX: symbols. R12: blanks.
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

	// BX: all other bytes. The first of each run becomes a space.
	MOVQ  CX, AX
	ORQ   DX, AX
	NOTQ  AX
	BZHIQ R11, AX, BX
	PUT(SPACES, BX)

	// R14: separators: the bytes in BX and symbols, without blanks.
	MOVQ  BX, R14
	ORQ   DX, R14
	ANDNQ R14, R12, R14

	// R13: possible starts of pieces: after a separator, and after the blanks that follow one. The sum
	// carries from the first such blank to the byte after the last.
	BEHIND(separators-40(SP), R14, R13)
	MOVQ  R13, AX
	ANDQ  R12, AX
	ADDQ  R12, AX
	JCC   carried
	BTSQ  $63, R14 // the carry leaves the block

carried:
	MOVQ  R14, separators-40(SP)
	ANDNQ AX, R12, AX
	ORQ   AX, R13
	MOVQ  R13, behind-48(SP)
	ANDQ  CX, R13

	// R12: the spaces to put before and after symbols. BX: the bytes to keep.
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
	// The place to cut the block, and continue with a new one: before a character that ends outside
	// the block, or whose next byte is outside. At the end of the text there is no cut.
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

	// other: bytes in none of these masks. Other code handles them.
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

	// BX: bytes that other code must handle. CX: bytes of words.
	MOVQ DX, BX
	SHRQ $1, BX
	JOINING(AX)
	ANDQ AX, BX // one of other follows
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
	ANDQ quote-112(SP), R12 // after a letter
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

	// DX: blanks. R12: bytes of Han. R13: bytes of other words.
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

	// A single space between a word and Han is dropped, if the word is known. Other code must handle
	// several spaces. R11: blanks after a word that is not Han, up to the next non-blank.
	MOVQ gaps-32(SP), R11
	ORQ  symbols-24(SP), R11
	ORQ  han-56(SP), R11
	NOTQ R11
	MOVQ R13, R14
	SHLQ $1, R11, R14 // after such a word
	ANDQ DX, R14
	MOVQ han3-96(SP), AX
	SHRQ $1, AX
	ANDQ R14, AX
	MOVQ AX, dropped-128(SP)
	MOVQ separators-40(SP), R11
	NOTQ R11
	ANDQ gaps-32(SP), R11
	SHRQ $63, R11 // or after one with blanks in the previous block
	MOVQ R11, AX
	ANDQ han3-96(SP), AX
	SUBQ AX, DI // drop the space already written
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

	// R11: the number of bytes that count.
	TZCNTQ  BX, R11
	CMPQ    R11, R8
	CMOVQGT R8, R11
	MOVQ    cut-88(SP), AX
	CMPQ    R11, AX
	SETCS   BX // not at the cut; AX is all ones if there is no cut
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

	// R13: possible starts of pieces. BX: separators.
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

	// Blanks after Han are dropped, so that the byte after them follows Han.
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

	// BX: bytes that become a space, the first of each run. DX: symbols.
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
	MOVQ  quote-112(SP), AX // only one byte of it is kept
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

	// Continue with a new block: move the last byte that counts to the end of the masks.
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

	// Go back, so that the next block begins after the bytes that count.
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
