#include "textflag.h"

// The constants of HashWord, and two bytes to compare with.
DATA words<>+0(SB)/8, $0x9e3779b97f4a7c15
DATA words<>+8(SB)/8, $0x243f6a8885a308d3
DATA words<>+16(SB)/8, $0xDF20
GLOBL words<>(SB), RODATA|NOPTR, $24

// HASH writes the hash of the word that starts at R9 and ends before CX. It keeps the hash only if the
// first byte begins words. It changes AX, DX, R13, R14, R15.
#define HASH \
	MOVQ    CX, R13         \
	SUBQ    R9, R13         \ // its length
	MOVL    $8, R14         \
	CMPQ    R13, R14        \
	CMOVQLT R13, R14        \ // its length, at most 8
	MOVQ    CX, R15         \
	SUBQ    R14, R15        \
	SHLL    $3, R14         \
	MOVBLZX (R9), AX        \
	BZHIQ   R14, (R9), DX   \ // its first eight bytes
	BZHIQ   R14, (R15), R15 \ // its last eight
	XORQ    R11, DX         \
	RORXQ   $32, R15, R15   \
	XORQ    R12, R15        \
	XORQ    R13, R15        \
	MULXQ   R15, R13, R14   \
	XORQ    R13, R14        \
	MOVQ    R14, (DI)       \
	MOVBLZX (R10)(AX*1), AX \
	LEAQ    (DI)(AX*8), DI

// func hashWordsAVX2(dst *uint64, text *byte, size int, begins *[256]uint8) (n int)
//
// DI: the place of the next hash. SI: a block of 64 bytes. R8: the bytes left in the text. R9: the
// start of the word. BX: the remaining ends of words in the block, one bit for each byte. R10: begins.
// R11, R12: constants.
TEXT ·hashWordsAVX2(SB), NOSPLIT, $24-40
	MOVQ dst+0(FP), DI
	MOVQ text+8(FP), SI
	MOVQ size+16(FP), R8
	MOVQ begins+24(FP), R10
	MOVQ SI, R9
	MOVQ words<>+0(SB), R11
	MOVQ words<>+8(SB), R12
	VPBROADCASTB words<>+16(SB), Y4
	VPBROADCASTB words<>+17(SB), Y5
	MOVQ $-1, AX
	MOVQ AX, spaces-8(SP) // of the previous block; a word begins with the text
	XORL AX, AX
	MOVQ AX, within-16(SP) // bytes of the previous block inside characters of three bytes

block:
	VMOVDQU   0(SI), Y0
	VMOVDQU   32(SI), Y1
	VPCMPEQB  Y0, Y4, Y2
	VPCMPEQB  Y1, Y4, Y3
	VPMOVMSKB Y2, BX
	VPMOVMSKB Y3, AX
	SHLQ $32, AX
	ORQ  AX, BX
	VPMOVMSKB Y0, CX
	VPMOVMSKB Y1, AX
	SHLQ $32, AX
	ORQ  AX, CX
	MOVQ within-16(SP), AX
	SHRQ $63, AX
	ORQ  CX, AX
	JNZ  mixed
	MOVQ BX, spaces-8(SP)
	CMPQ R8, $64
	JGE  words

	// The last block. The end of the text ends a word, like a space.
	BZHIQ R8, BX, BX
	BTSQ  R8, BX

words:
	TESTQ BX, BX
	JZ    next

word:
	TZCNTQ BX, CX
	BLSRQ  BX, BX
	ADDQ   SI, CX
	HASH
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

mixed:
	// Words end before spaces, before the first of three bytes (CX), and before ASCII after the last
	// of three, except directly after a space.
	VPCMPGTB  Y5, Y0, Y2
	VPCMPGTB  Y5, Y1, Y3
	VPMOVMSKB Y2, DX
	VPMOVMSKB Y3, AX
	SHLQ  $32, AX
	ORQ   AX, DX
	MOVQ  CX, R13
	ANDNQ CX, DX, R14 // inside characters
	ANDQ  DX, CX
	MOVQ  within-16(SP), AX
	MOVQ  R14, within-16(SP)
	SHLQ  $1, AX, R14
	ANDNQ R14, R13, R14
	ORQ   R14, CX
	MOVQ  BX, R14
	MOVQ  spaces-8(SP), AX
	MOVQ  BX, spaces-8(SP)
	SHLQ  $1, AX, R14
	ANDNQ CX, R14, CX
	ORQ   CX, BX
	CMPQ  R8, $64
	JGE   units
	BZHIQ R8, BX, BX
	BTSQ  R8, BX

units:
	TESTQ BX, BX
	JZ    next

unit:
	TZCNTQ BX, CX
	BLSRQ  BX, BX
	MOVQ   spaces-8(SP), AX
	SHRXQ  CX, AX, AX
	ANDL   $1, AX
	ADDQ   SI, CX
	ADDQ   CX, AX
	MOVQ   AX, start-24(SP)
	HASH
	MOVQ   start-24(SP), R9
	TESTQ  BX, BX
	JNZ    unit
	JMP    next
