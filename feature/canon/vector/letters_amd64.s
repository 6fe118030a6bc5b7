#include "textflag.h"

// The least digit and letter, negated, and the number of further ones.
DATA letters<>+0(SB)/4, $0x199F09D0
GLOBL letters<>(SB), RODATA|NOPTR, $4

// PACK copies the letters among eight bytes.
#define PACK(at) \
	MOVBLZX AX, BX          \
	SHRL    $8, AX          \
	VMOVQ   at(SI), X0      \
	VMOVQ   (R8)(BX*8), X1  \
	VPSHUFB X1, X0, X0      \
	VMOVQ   X0, (DI)        \
	POPCNTL BX, BX          \
	ADDQ    BX, DI

// func lettersAVX2(dst, text *byte, blocks int) (read, written int)
//
// DI: the place of the next letter. SI: a block of 32 bytes. CX: the blocks left. AX: the letters in the
// block, one bit for each byte. R8: the shuffles.
TEXT ·lettersAVX2(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ text+8(FP), SI
	MOVQ blocks+16(FP), CX
	LEAQ ·shuffles(SB), R8
	VPBROADCASTB letters<>+0(SB), Y4
	VPBROADCASTB letters<>+1(SB), Y5
	VPBROADCASTB letters<>+2(SB), Y6
	VPBROADCASTB letters<>+3(SB), Y7

next:
	VMOVDQU   (SI), Y0
	VPMOVMSKB Y0, AX
	TESTL     AX, AX
	JNZ       done
	VPADDB    Y4, Y0, Y1
	VPMINUB   Y5, Y1, Y2
	VPCMPEQB  Y1, Y2, Y1
	VPADDB    Y6, Y0, Y2
	VPMINUB   Y7, Y2, Y3
	VPCMPEQB  Y2, Y3, Y2
	VPOR      Y1, Y2, Y1
	VPMOVMSKB Y1, AX
	PACK(0)
	PACK(8)
	PACK(16)
	PACK(24)
	ADDQ $32, SI
	DECQ CX
	JNZ  next

done:
	VZEROUPPER
	SUBQ text+8(FP), SI
	SUBQ dst+0(FP), DI
	MOVQ SI, read+24(FP)
	MOVQ DI, written+32(FP)
	RET
