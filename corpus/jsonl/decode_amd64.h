// Tables of the errors in two bytes, indexed by both halves of the first and the high half of the
// second (Keiser and Lemire, "Validating UTF-8 In Less Than One Instruction Per Byte",
// 2021). Bits: 1 too short, 2 too long, 4 overlong of three, 8 too large, 10 a surrogate, 20
// overlong of two, 40 overlong of four or too large, 80 two continuations.
DATA utf8<>+0(SB)/8, $0x0202020202020202
DATA utf8<>+8(SB)/8, $0x4915012180808080
DATA utf8<>+16(SB)/8, $0xCBCBCB8B8383A3E7
DATA utf8<>+24(SB)/8, $0xCBCBDBCBCBCBCBCB
DATA utf8<>+32(SB)/8, $0x0101010101010101
DATA utf8<>+40(SB)/8, $0x01010101BABAAEE6
GLOBL utf8<>(SB), RODATA|NOPTR, $48
