#include "textflag.h"

// The constants of HashUnit in package canon.
DATA first<>+0(SB)/8, $0x9e3779b97f4a7c15
GLOBL first<>(SB), RODATA|NOPTR, $8
DATA last<>+0(SB)/8, $0x243f6a8885a308d3
GLOBL last<>(SB), RODATA|NOPTR, $8

// func hashWordsAVX2(dst *uint64, text *byte, size int, begins *[256]uint8) (n int)
//
// DI: where the next hash goes. SI: a block of 64 bytes, of which R8 are left to the
// end of the text. R9: where the word begins. BX: the ends of words in the block that are still to
// come, a bit for each byte. R10: begins.
TEXT ·hashWordsAVX2(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ text+8(FP), SI
	MOVQ size+16(FP), R8
	MOVQ begins+24(FP), R10
	MOVQ SI, R9
	MOVQ first<>(SB), R11
	MOVQ last<>(SB), R12
	MOVL $0x20202020, AX
	MOVQ AX, X2
	VPBROADCASTD X2, Y2

block:
	VPCMPEQB  0(SI), Y2, Y0
	VPCMPEQB  32(SI), Y2, Y1
	VPMOVMSKB Y0, BX
	VPMOVMSKB Y1, AX
	SHLQ $32, AX
	ORQ  AX, BX
	CMPQ R8, $64
	JGE  words

	// The last block. The end of the text ends a word as a space does.
	BZHIQ R8, BX, BX
	BTSQ  R8, BX

words:
	TESTQ BX, BX
	JZ    next

word:
	TZCNTQ BX, CX
	BLSRQ  BX, BX
	ADDQ   SI, CX // where the word ends
	MOVQ   CX, R13
	SUBQ   R9, R13 // its length
	MOVL   $8, R14
	CMPQ   R13, R14
	CMOVQLT R13, R14 // the same, at most 8
	MOVQ   CX, R15
	SUBQ   R14, R15
	SHLL   $3, R14
	MOVBLZX (R9), AX
	BZHIQ  R14, (R9), DX  // its first eight bytes
	BZHIQ  R14, (R15), R15 // its last
	XORQ   R11, DX
	RORXQ  $32, R15, R15
	XORQ   R12, R15
	XORQ   R13, R15
	MULXQ  R15, R13, R14
	XORQ   R13, R14
	MOVQ   R14, (DI)
	MOVBLZX (R10)(AX*1), AX
	LEAQ   (DI)(AX*8), DI
	LEAQ   1(CX), R9
	TESTQ  BX, BX
	JNZ    word

next:
	ADDQ $64, SI
	SUBQ $64, R8
	JGE  block

	VZEROUPPER
	SUBQ dst+0(FP), DI
	SHRQ $3, DI
	MOVQ DI, n+32(FP)
	RET
