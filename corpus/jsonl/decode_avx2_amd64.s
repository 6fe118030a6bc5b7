#include "textflag.h"

#include "decode_amd64.h"

// Each byte eight times: 0F, the differences from E0 and F0 to 80, the highest bit, a backslash, a
// quote, the last control character.
DATA constants<>+0(SB)/8, $0x0F0F0F0F0F0F0F0F
DATA constants<>+8(SB)/8, $0x6060606060606060
DATA constants<>+16(SB)/8, $0x7070707070707070
DATA constants<>+24(SB)/8, $0x8080808080808080
DATA constants<>+32(SB)/8, $0x5C5C5C5C5C5C5C5C
DATA constants<>+40(SB)/8, $0x2222222222222222
DATA constants<>+48(SB)/8, $0x1F1F1F1F1F1F1F1F
// For each byte of a block, the byte of a mask with its bit, and that bit.
DATA constants<>+56(SB)/8, $0x0000000000000000
DATA constants<>+64(SB)/8, $0x0101010101010101
DATA constants<>+72(SB)/8, $0x0202020202020202
DATA constants<>+80(SB)/8, $0x0303030303030303
DATA constants<>+88(SB)/8, $0x8040201008040201
GLOBL constants<>(SB), RODATA|NOPTR, $96

#define EIGHT(i, register) VPBROADCASTQ constants<>+i(SB), register

// ROW looks up the bytes of the block in a row of the escapes, by their low four bits.
#define ROW(at, result) \
	VBROADCASTI128 at(R12), result \
	VPSHUFB Y0, result, result

// ROWS looks them up in four rows, selected by their bits 4 and 5, the highest bits in Y1 and Y2. It
// changes Y4 and Y5.
#define ROWS(a, b, c, d, result) \
	ROW(a, result)                   \
	ROW(b, Y4)                       \
	VPBLENDVB Y1, Y4, result, result \
	ROW(c, Y4)                       \
	ROW(d, Y5)                       \
	VPBLENDVB Y1, Y5, Y4, Y4         \
	VPBLENDVB Y2, Y4, result, result

// PACK writes the bytes, of eight in the block at R15, selected by the lowest bits of R13.
#define PACK(at) \
	MOVBLZX R13, BX        \
	SHRL    $8, R13        \
	VMOVQ   at(R15), X1    \
	VMOVQ   (CX)(BX*8), X2 \
	VPSHUFB X2, X1, X1     \
	VMOVQ   X1, (DI)       \
	POPCNTL BX, BX         \
	ADDQ    BX, DI

// func decodeAVX2(dst, src *byte, n int, escapes *[128]byte) (read, written int)
//
// SI: a block of 32 bytes. R8: the bytes left. DI: the output. R10, R11: the starts of SI and DI.
TEXT ·decodeAVX2(SB), NOSPLIT, $32-48
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), R8
	MOVQ escapes+24(FP), R12
	MOVQ SI, R10
	MOVQ DI, R11
	VBROADCASTI128 utf8<>+0(SB), Y8
	VBROADCASTI128 utf8<>+16(SB), Y9
	VBROADCASTI128 utf8<>+32(SB), Y10
	EIGHT(0, Y11)
	EIGHT(8, Y12)
	EIGHT(16, Y13)
	EIGHT(32, Y14)
	EIGHT(40, Y15)
	EIGHT(48, Y7)
	EIGHT(24, Y6)
	MOVL $0xAAAAAAAA, R9
	JMP  more

block:
	VMOVDQU   (SI), Y0
	VPCMPEQB  Y14, Y0, Y1 // backslashes
	VPCMPEQB  Y15, Y0, Y2 // quotes
	VPMINUB   Y7, Y0, Y3
	VPCMPEQB  Y3, Y0, Y3  // control characters
	VPOR      Y2, Y3, Y3
	VPMOVMSKB Y0, DX      // non-ASCII bytes
	TESTL     DX, DX
	JNZ       valid
	CMPB      -1(SI), $0  // a character may have begun before the block
	JLT       valid

validated:
	VPOR      Y1, Y3, Y2
	VPMOVMSKB Y2, AX
	TESTL     AX, AX
	JNZ       special
	VMOVDQU   Y0, (DI)
	ADDQ      $32, SI
	ADDQ      $32, DI
	SUBQ      $32, R8

more:
	CMPQ R8, $32
	JGE  block

return:
	VZEROUPPER
	SUBQ R10, SI
	SUBQ R11, DI
	MOVQ SI, read+32(FP)
	MOVQ DI, written+40(FP)
	RET

valid:
	// For each byte: the bytes one, two and three before it.
	VMOVDQU   -1(SI), Y4
	VPSRLW    $4, Y4, Y5
	VPAND     Y11, Y5, Y5
	VPSHUFB   Y5, Y8, Y5
	VPAND     Y11, Y4, Y4
	VPSHUFB   Y4, Y9, Y4
	VPAND     Y4, Y5, Y5
	VPSRLW    $4, Y0, Y4
	VPAND     Y11, Y4, Y4
	VPSHUFB   Y4, Y10, Y4
	VPAND     Y4, Y5, Y5
	VMOVDQU   -2(SI), Y4
	VPSUBUSB  Y12, Y4, Y4 // the highest bit if a third byte must be here
	VMOVDQU   -3(SI), Y2
	VPSUBUSB  Y13, Y2, Y2 // or a fourth byte
	VPOR      Y2, Y4, Y4
	VPAND     Y6, Y4, Y4
	VPXOR     Y4, Y5, Y5
	VPTEST    Y5, Y5
	JNZ       return
	JMP       validated

special:
	// BX: backslashes, DX: quotes and control characters.
	VPMOVMSKB Y1, BX
	VPMOVMSKB Y3, DX
	TESTL     BX, BX
	JZ        ends

	// R13: backslashes that begin an escape. R14: escaped bytes. In a row of backslashes, every
	// other one is escaped (the method of simdjson).
	LEAL (BX)(BX*1), R13
	ORL  R9, R13
	SUBL BX, R13
	XORL R9, R13
	MOVL R13, R14
	XORL BX, R14
	ANDL BX, R13

	// Y3: the meaning of each byte after a backslash, or 0 for none.
	VPSLLW $3, Y0, Y1
	VPSLLW $2, Y0, Y2
	ROWS(0, 16, 32, 48, Y3)
	ROWS(64, 80, 96, 112, Y6)
	VPSLLW $1, Y0, Y1
	VPBLENDVB Y1, Y6, Y3, Y3
	EIGHT(24, Y6) // ROWS changed it
	VPXOR     Y1, Y1, Y1
	VPCMPEQB  Y1, Y3, Y1
	VPMOVMSKB Y1, AX
	ANDL      R14, AX
	VMOVD     R14, X1
	VPBROADCASTD X1, Y1
	VPSHUFB   constants<>+56(SB), Y1, Y1
	EIGHT(88, Y2)
	VPAND     Y2, Y1, Y1
	VPCMPEQB  Y2, Y1, Y1
	VPBLENDVB Y1, Y3, Y0, Y0

	// AX: the place to stop: the closing quote, a control character, or an escape that is not short
	// or continues after the block.
	SHRL   $1, AX
	ANDNL  DX, R14, DX
	ORL    DX, AX
	MOVL   R13, CX
	SHRL   $31, CX
	SHLL   $31, CX
	ORL    CX, AX
	TZCNTL AX, AX
	NOTL   R13
	BZHIL  AX, R13, R13
	VMOVDQU Y0, block-32(SP)
	LEAQ   block-32(SP), R15
	LEAQ   ·packed(SB), CX
	PACK(0)
	PACK(8)
	PACK(16)
	PACK(24)
	ADDQ   AX, SI
	SUBQ   AX, R8
	CMPQ   AX, $32
	JEQ    more
	JMP    return

ends:
	TZCNTL DX, DX
	VMOVDQU Y0, (DI)
	ADDQ   DX, SI
	ADDQ   DX, DI
	JMP    return
