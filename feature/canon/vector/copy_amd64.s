#include "textflag.h"

// Offsets in Classes, and the size of a Start.
#define CLASS   0
#define FORM    128
#define GENERAL 256 // of characters that begin with E2 80
#define CJK     320 // with E3 80
#define FULL    384 // with EF BC
#define START   12

// The bytes that are compared with.
DATA constants<>+0(SB)/8, $0x4020100804020120
DATA constants<>+8(SB)/8, $0x800627B8BCEFE4C0
DATA constants<>+16(SB)/8, $0x000000000000E3E2
GLOBL constants<>(SB), RODATA|NOPTR, $24

#define BROADCAST(i, register) VPBROADCASTB constants<>+i(SB), register

#define SPACES  Z16
#define LETTER  Z17
#define DIGIT   Z18
#define BLANK   Z19
#define SYMBOL  Z20
#define DOT     Z21
#define COMMA   Z22
#define QUOTE   Z23

// Of what is not ASCII: bounds of bytes.
#define XC0     Z8
#define XE4     Z9
#define XEF     Z10
#define XBC     Z11
#define XB8     Z12
#define APOSTROPHE Z13
#define SIX     Z14
#define X80     Z15
#define XE2     Z29
#define XE3     Z30

// MASK has a bit for each byte of the block whose class has the bit.
#define MASK(bit, register) \
	VPTESTMB bit, Z1, K1 \
	KMOVQ    K1, register

// BEHIND moves a mask by one byte, with the last of the block before. It changes AX.
#define BEHIND(before, mask, register) \
	MOVQ before, AX       \
	MOVQ mask, register   \
	SHLQ $1, AX, register

// func copyAVX512(c *Classes, dst, text *byte, size int, starts *Start) (read, written, starting, wide int, separated bool)
//
// All through: SI the block, R8 how many bytes are left from there on, DI where to write, R9 where
// the next start goes, R10 the classes, R15 how many Han characters were read. On the stack are
// masks of the block before, of which the highest bit counts: letters, digits, symbols, gaps
// (what becomes a space), separators (also those with blanks behind them), and han (also with
// blanks behind it, which go).
TEXT ·copyAVX512(SB), NOSPLIT, $136-73
	MOVQ c+0(FP), R10
	MOVQ dst+8(FP), DI
	MOVQ text+16(FP), SI
	MOVQ size+24(FP), R8
	MOVQ starts+32(FP), R9
	XORL R15, R15

	VMOVDQU64 (CLASS+0)(R10), Z24
	VMOVDQU64 (CLASS+64)(R10), Z25
	VMOVDQU64 (FORM+0)(R10), Z26
	VMOVDQU64 (FORM+64)(R10), Z27
	BROADCAST(0, SPACES)
	BROADCAST(1, LETTER)
	BROADCAST(2, DIGIT)
	BROADCAST(3, BLANK)
	BROADCAST(4, SYMBOL)
	BROADCAST(5, DOT)
	BROADCAST(6, COMMA)
	BROADCAST(7, QUOTE)
	VPSRLW $8, SPACES, Z28 // words of a space and nothing

	// Before the text is a separator, and a space was written.
	XORL AX, AX
	MOVQ AX, letters-8(SP)
	MOVQ AX, digits-16(SP)
	MOVQ AX, symbols-24(SP)
	MOVQ AX, han-56(SP)
	MOVQ AX, ready-64(SP) // whether the bounds are in their registers
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
	JLE  end
	VMOVDQU64 (SI), Z0
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
	JMP  classify

end:
	MOVQ  $-1, AX
	BZHIQ R8, AX, AX
	KMOVQ AX, K1
	VMOVDQU8.Z (SI), K1, Z0

classify:
	VMOVDQA64 Z0, Z1
	VPERMI2B  Z25, Z24, Z1
	VMOVDQA64 Z0, Z2
	VPERMI2B  Z27, Z26, Z2
	VPMOVB2M  Z0, K2
	KMOVQ     K2, DX
	MOVQ      han-56(SP), AX
	SHRQ      $63, AX
	ORQ       DX, AX
	JNZ       wide

	// What joins a number or a word: AX. What has to be left to others: BX.
	XORL R11, R11
	SHRQ $1, BX, R11 // no ASCII behind
	VPORQ DOT, COMMA, Z3
	VPORQ QUOTE, SYMBOL, Z4
	VPORQ Z3, Z4, Z3
	MASK(Z3, BX)
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
	KMOVQ BX, K2
	VMOVDQU8 SPACES, K2, Z2

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

write:
	TESTQ R12, R12
	JNZ   insert
	KMOVQ BX, K1
	VPCOMPRESSB.Z Z2, K1, Z3
	VMOVDQU64 Z3, (DI)
	POPCNTQ BX, BX
	ADDQ    BX, DI
	JMP     next

insert:
	// Each byte with a space before it, and a mask that takes of both what is wanted.
	MOVQ $0x5555555555555555, AX
	MOVQ $0xAAAAAAAAAAAAAAAA, DX

	VPMOVZXBW Y2, Z3
	VPSLLW    $8, Z3, Z3
	VPORQ     Z28, Z3, Z3
	VEXTRACTI64X4 $1, Z2, Y4
	VPMOVZXBW Y4, Z4
	VPSLLW    $8, Z4, Z4
	VPORQ     Z28, Z4, Z4

	PDEPQ AX, R12, CX
	PDEPQ DX, BX, R14
	ORQ   R14, CX
	KMOVQ CX, K1
	VPCOMPRESSB.Z Z3, K1, Z3
	VMOVDQU64 Z3, (DI)
	POPCNTQ CX, CX
	ADDQ    CX, DI
	SHRQ  $32, R12
	SHRQ  $32, BX
	PDEPQ AX, R12, CX
	PDEPQ DX, BX, R14
	ORQ   R14, CX
	KMOVQ CX, K1
	VPCOMPRESSB.Z Z4, K1, Z4
	VMOVDQU64 Z4, (DI)
	POPCNTQ CX, CX
	ADDQ    CX, DI

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

wide:
	// There is something beside ASCII in the block, DX, or there was a Han character before it.
	MOVQ ready-64(SP), AX
	TESTQ AX, AX
	JNZ  bounds
	MOVQ R10, ready-64(SP)
	BROADCAST(8, XC0)
	BROADCAST(9, XE4)
	BROADCAST(10, XEF)
	BROADCAST(11, XBC)
	BROADCAST(12, XB8)
	BROADCAST(13, APOSTROPHE)
	BROADCAST(14, SIX)
	BROADCAST(15, X80)
	BROADCAST(16, XE2)
	BROADCAST(17, XE3)

bounds:
	MOVQ DX, other-72(SP)
	MOVQ BX, ahead-80(SP)
	KNOTQ K2, K1
	VMOVDQU8.Z Z1, K1, Z1 // only ASCII has these classes

	// Z5, Z6: the bytes one and two further on, as far as the text goes.
	MOVQ    $-1, CX
	MOVL    $64, AX
	XORL    BX, BX
	LEAQ    -1(R8), R11
	CMPQ    R11, AX
	CMOVQGT AX, R11
	BZHIQ   R11, CX, R11
	KMOVQ   R11, K1
	VMOVDQU8.Z 1(SI), K1, Z5
	LEAQ    -2(R8), R11
	CMPQ    R11, AX
	CMOVQGT AX, R11
	TESTQ   R11, R11
	CMOVQLT BX, R11
	BZHIQ   R11, CX, R11
	KMOVQ   R11, K1
	VMOVDQU8.Z 2(SI), K1, Z6

	// K3: two continuations follow. K4: Han, E4 B8 80 to E9 BF BF. Z7: classes of others.
	VPCMPB   $1, XC0, Z5, K3
	VPCMPB   $1, XC0, Z6, K3, K3
	VPSUBB   XE4, Z0, Z7
	VPCMPUB  $1, SIX, Z7, K3, K4
	VPCMPEQB XE4, Z0, K4, K5
	VPCMPUB  $1, XB8, Z5, K5, K5
	KANDNQ   K4, K5, K4
	VPXORQ   Z7, Z7, Z7
	VPCMPEQB X80, Z5, K3, K5
	VPCMPEQB XE2, Z0, K5, K6
	VPERMB   GENERAL(R10), Z6, K6, Z7
	VPCMPEQB XE3, Z0, K5, K6
	VPERMB   CJK(R10), Z6, K6, Z7
	VPCMPEQB XBC, Z5, K3, K5
	VPCMPEQB XEF, Z0, K5, K6
	VPERMB   FULL(R10), Z6, K6, Z7

	// At their first bytes: BX Han, CX what separates, DX white space, R11 what may join a
	// number, R14 what may join a word.
	KMOVQ    K4, BX
	VPMOVB2M Z7, K5
	KMOVQ    K5, CX
	VPTESTMB BLANK, Z7, K5
	KMOVQ    K5, DX
	VPORQ    DOT, COMMA, Z3
	VPTESTMB Z3, Z7, K5
	KMOVQ    K5, R11
	VPTESTMB QUOTE, Z7, K5
	KMOVQ    K5, R14

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
	VPORQ QUOTE, SYMBOL, Z4
	VPORQ Z3, Z4, Z4
	MASK(Z4, AX)
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
	VPORQ QUOTE, SYMBOL, Z4
	VPORQ Z3, Z4, Z4
	MASK(Z4, AX)
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
	KMOVQ R12, K1
	VMOVDQU8 APOSTROPHE, K1, Z2
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
	KMOVQ R12, K1
	VMOVDQU8 Z0, K1, Z2
	ORQ   AX, R12
	MOVQ  R12, han-56(SP)
	ORQ   dropped-128(SP), AX

	// BX: what becomes a space, the first of each run. DX: symbols.
	MOVQ  symbol-136(SP), DX
	ORQ   CX, AX
	ORQ   DX, AX
	NOTQ  AX
	BZHIQ R11, AX, BX
	KMOVQ BX, K2
	VMOVDQU8 SPACES, K2, Z2
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
