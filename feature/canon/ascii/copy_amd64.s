#include "textflag.h"

// Offsets in Classes.
#define CLASS 0
#define FORM 128

// Bits of a class.
#define LETTER 0x01
#define DIGIT  0x02
#define BLANK  0x04
#define SYMBOL 0x08
#define DOT    0x10
#define COMMA  0x20
#define QUOTE  0x40

#define BROADCAST(value, register) \
	MOVL         $value, AX  \
	VPBROADCASTB AX, register

// MASK has a bit for each byte of the block whose class has the bit.
#define MASK(bit, register) \
	VPTESTMB bit, Z1, K1 \
	KMOVQ    K1, register

// func copyAVX512(c *Classes, dst, text *byte, size int, starts *Start) (read, written, count int, separated bool)
//
// All through: SI the block, R8 how many bytes are left from there on, DI where to write, R9 where
// the next start goes, R10 the classes. The stack keeps masks of the block before, of which the
// highest bit counts.
TEXT ·copyAVX512(SB), NOSPLIT, $72-65
	MOVQ c+0(FP), R10
	MOVQ dst+8(FP), DI
	MOVQ text+16(FP), SI
	MOVQ size+24(FP), R8
	MOVQ starts+32(FP), R9

	VMOVDQU64 (CLASS+0)(R10), Z16
	VMOVDQU64 (CLASS+64)(R10), Z17
	VMOVDQU64 (FORM+0)(R10), Z18
	VMOVDQU64 (FORM+64)(R10), Z19
	BROADCAST(LETTER, Z20)
	BROADCAST(DIGIT, Z21)
	BROADCAST(BLANK, Z22)
	BROADCAST(SYMBOL, Z23)
	BROADCAST(DOT, Z24)
	BROADCAST(COMMA, Z25)
	BROADCAST(QUOTE, Z26)
	BROADCAST(0x20, Z27) // spaces
	MOVL         $0x20, AX
	VPBROADCASTW AX, Z28 // words of a space and nothing

	// Before the text is a separator, and a space was written.
	XORL AX, AX
	MOVQ AX, letters-8(SP)
	MOVQ AX, digits-16(SP)
	MOVQ AX, symbols-24(SP)
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
	VPERMI2B  Z17, Z16, Z1
	VMOVDQA64 Z0, Z2
	VPERMI2B  Z19, Z18, Z2

	// What joins a number or a word: AX. What has to be left to others: BX.
	VPMOVB2M Z0, K1
	KMOVQ    K1, R11
	SHRQ     $1, BX, R11 // no ASCII behind
	KMOVQ    K1, BX
	VPORQ    Z24, Z25, Z3
	VPORQ    Z26, Z23, Z4
	VPORQ    Z3, Z4, Z3
	MASK(Z3, AX)
	ANDQ AX, R11
	ORQ  R11, BX

	MASK(Z21, DX)
	MOVQ DX, R11
	SHRQ $1, R13, R11 // before a digit
	MOVQ digits-16(SP), AX
	MOVQ DX, digits-16(SP)
	MOVQ DX, R13
	SHLQ $1, AX, R13 // behind a digit
	ANDQ R13, R11
	MASK(Z25, AX)
	ANDQ R11, AX
	ORQ  AX, BX // a comma between digits
	MASK(Z24, AX)
	ANDQ R11, AX

	MASK(Z20, CX)
	MOVQ CX, R11
	SHRQ $1, R12, R11
	MOVQ letters-8(SP), R12
	MOVQ CX, letters-8(SP)
	MOVQ CX, R13
	SHLQ $1, R12, R13
	ANDQ R13, R11
	MASK(Z26, R12)
	ANDQ R12, R11
	ORQ  R11, AX

	// R11: how many bytes of the block count. CX: bytes of words. DX: symbols. R12: blanks.
	TZCNTQ  BX, R11
	CMPQ    R11, R8
	CMOVQGT R8, R11
	ORQ     DX, CX
	ORQ     AX, CX
	MASK(Z23, DX)
	MASK(Z22, R12)
	BZHIQ   R11, CX, CX
	BZHIQ   R11, DX, DX
	BZHIQ   R11, R12, R12

	// BX: all others, of which the first of each run becomes a space.
	MOVQ  CX, AX
	ORQ   DX, AX
	NOTQ  AX
	BZHIQ R11, AX, BX
	KMOVQ BX, K2
	VMOVDQU8 Z27, K2, Z2

	// AX: what separates: others and symbols without blanks.
	MOVQ  BX, AX
	ORQ   DX, AX
	ANDNQ AX, R12, AX

	// R13: where a piece may start: behind a separator, and the blanks after one. The sum carries
	// from the first of such blanks to what is behind the last.
	MOVQ  AX, R13
	MOVQ  separators-40(SP), R14
	SHLQ  $1, R14, R13
	MOVQ  R13, R14
	ANDQ  R12, R14
	ADDQ  R12, R14
	SBBQ  R15, R15 // all ones where it carries out of the block
	ORQ   R15, AX
	MOVQ  AX, separators-40(SP)
	ANDNQ R14, R12, R14
	ORQ   R14, R13
	MOVQ  R13, behind-48(SP)
	ANDQ  CX, R13

	// R12: the spaces to put before symbols, and behind them. BX: what is kept.
	MOVQ  BX, R14
	MOVQ  gaps-32(SP), AX
	MOVQ  BX, gaps-32(SP)
	SHLQ  $1, AX, R14   // behind another
	ANDNQ BX, R14, BX   // the first of a run
	ANDNQ DX, R14, R12
	MOVQ  DX, R14
	MOVQ  symbols-24(SP), AX
	MOVQ  DX, symbols-24(SP)
	SHLQ  $1, AX, R14
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
	ADDQ    $8, R9
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
	JLT  done
	ADDQ $64, SI
	SUBQ $64, R8
	JNZ  block

	// The text ends with the block.
	XORL R11, R11
	MOVQ separators-40(SP), AX
	SHRQ $63, AX
	JMP  return

done:
	MOVQ behind-48(SP), AX
	SHRXQ R11, AX, AX
	ANDL $1, AX

return:
	VZEROUPPER
	MOVB AX, separated+64(FP)
	ADDQ R11, SI
	SUBQ text+16(FP), SI
	MOVQ SI, read+40(FP)
	SUBQ dst+8(FP), DI
	MOVQ DI, written+48(FP)
	SUBQ starts+32(FP), R9
	SHRQ $3, R9
	MOVQ R9, count+56(FP)
	RET
