#include "textflag.h"

// Offsets in Classes.
#define CLASS   0
#define GENERAL 128 // characters that begin with E2 80
#define CJK     192 // characters that begin with E3 80
#define FULL    256 // characters that begin with EF BC

// The bytes of the classes and the bounds, to compare with.
DATA constants<>+0(SB)/8, $0x4020100804020120
DATA constants<>+8(SB)/8, $0x800627B8BCEFE4C0
DATA constants<>+16(SB)/8, $0x000000000000E3E2
GLOBL constants<>(SB), RODATA|NOPTR, $24

#define BROADCAST(i, register) VPBROADCASTB constants<>+i(SB), register

// Z0: the block. Z1: its classes. Z2: its form. K2: its non-ASCII bytes.
#define BYTES   Z0

#define SPACES  Z16
#define LETTER  Z17
#define DIGIT   Z18
#define BLANK   Z19
#define SYMBOL  Z20
#define DOT     Z21
#define COMMA   Z22
#define QUOTE   Z23

// Bounds of bytes outside ASCII.
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

#define MASK(class, register) \
	VPTESTMB class, Z1, K1 \
	KMOVQ    K1, register

#define JOINING(register) \
	VPORQ DOT, COMMA, Z3    \
	VPORQ QUOTE, SYMBOL, Z4 \
	VPORQ Z3, Z4, Z3        \
	MASK(Z3, register)

#define PUT(what, register) \
	KMOVQ    register, K1 \
	VMOVDQU8 what, K1, Z2

// func copyAVX512(c *Classes, dst, text *byte, size int, starts *Start) (read, written, starting, wide int, separated bool)
TEXT ·copyAVX512(SB), NOSPLIT, $136-73
	MOVQ c+0(FP), R10
	VMOVDQU64 (CLASS+0)(R10), Z24
	VMOVDQU64 (CLASS+64)(R10), Z25
	BROADCAST(0, SPACES)
	BROADCAST(1, LETTER)
	BROADCAST(2, DIGIT)
	BROADCAST(3, BLANK)
	BROADCAST(4, SYMBOL)
	BROADCAST(5, DOT)
	BROADCAST(6, COMMA)
	BROADCAST(7, QUOTE)
	VPSRLW $8, SPACES, Z28 // 16-bit words: a space and a zero byte
	XORL AX, AX
	MOVQ AX, ready-64(SP) // not 0 if the bounds are in their registers

#include "copy_amd64.h"

classify:
	CMPQ R8, $64
	JLT  last
	VMOVDQU64 (SI), Z0
	JMP  read

last:
	MOVQ  $-1, AX
	BZHIQ R8, AX, AX
	KMOVQ AX, K1
	VMOVDQU8.Z (SI), K1, Z0

read:
	VMOVDQA64 Z0, Z1
	VPERMI2B  Z25, Z24, Z1
	VPANDQ    LETTER, Z1, Z2
	VPSLLW    $5, Z2, Z2 // the bit that makes a letter lower-case
	VPORQ     Z0, Z2, Z2
	VPMOVB2M  Z0, K2
	KMOVQ     K2, DX
	JMP       classified

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
	// Put a space before each byte, and select the wanted bytes and spaces by a mask.
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
	JMP     next

wide:
	MOVQ DX, other-72(SP)
	MOVQ BX, ahead-80(SP)
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
	KNOTQ K2, K1
	VMOVDQU8.Z Z1, K1, Z1 // only ASCII bytes have these classes

	// Z5, Z6: the bytes one and two later, up to the end of the text.
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

	// K3: two continuations follow. K4: Han, E4 B8 80 to E9 BF BF. Z7: classes of other characters.
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
	JMP      found
