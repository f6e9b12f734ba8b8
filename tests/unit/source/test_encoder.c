/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the encoder writes, read back by libipt's packet decoder, an independent implementation of the packet
 * formats. A test states the packets as text, timing packets apart.
 */
#include "assertions.h"

#include <intel-pt.h>
#include <stdlib.h>

#include "source/encoder.h"

enum { RING = 65536, T0 = 1000000 };

static const uint64_t main_ip = 0x555555555000, lib_ip = 0x7ffff7dd0000;

struct fixture {
	struct trace_params params;
	struct encoder encoder;
};

static void fixture_init(struct fixture *fixture, size_t ring_size)
{
	fixture->params = encoder_default_params();
	assert_ok(encoder_init(&fixture->encoder, &fixture->params, ring_size));
}

static int packet_text(const struct pt_packet *packet, bool timing, char *text, size_t size)
{
	static const char *const names[] = {
		[ppt_pad] = "pad",   [ppt_psb] = "psb",	    [ppt_psbend] = "psbend", [ppt_fup] = "fup",
		[ppt_tip] = "tip",   [ppt_tip_pge] = "pge", [ppt_tip_pgd] = "pgd",   [ppt_tnt_8] = "tnt",
		[ppt_mode] = "mode", [ppt_tsc] = "tsc",	    [ppt_cbr] = "cbr",	     [ppt_tma] = "tma",
		[ppt_mtc] = "mtc",   [ppt_cyc] = "cyc",	    [ppt_ovf] = "ovf",
	};

	switch (packet->type) {
	case ppt_tsc:
	case ppt_cbr:
	case ppt_tma:
	case ppt_mtc:
	case ppt_cyc:
		return timing ? snprintf(text, size, "%s ", names[packet->type]) : 0;
	case ppt_fup:
	case ppt_tip:
	case ppt_tip_pge:
	case ppt_tip_pgd:
		if (packet->payload.ip.ipc == pt_ipc_suppressed)
			return snprintf(text, size, "%s ", names[packet->type]);
		return snprintf(text, size, "%s/%d:%lx ", names[packet->type], packet->payload.ip.ipc,
				(unsigned long)packet->payload.ip.ip);
	case ppt_tnt_8: {
		char bits[65] = "";

		for (int i = packet->payload.tnt.bit_size - 1; i >= 0; i--)
			strcat(bits, packet->payload.tnt.payload >> i & 1 ? "T" : "N");
		return snprintf(text, size, "tnt:%s ", bits);
	}
	case ppt_mode:
		return snprintf(text, size, "mode.%s ",
				packet->payload.mode.leaf == pt_mol_exec ? "exec" : "tsx");
	default:
		return snprintf(text, size, "%s ", names[packet->type]);
	}
}

/* The packets in the ring from its beginning, as text. */
static const char *packets(const struct fixture *fixture, bool timing)
{
	static char text[16384];
	size_t len = 0;
	struct pt_packet_decoder *decoder;
	struct pt_config config;
	struct pt_packet packet;

	pt_config_init(&config);
	config.begin = fixture->encoder.ring.bytes;
	config.end = config.begin + fixture->encoder.ring.head;
	decoder = pt_pkt_alloc_decoder(&config);
	assert_non_null(decoder);
	assert_true(pt_pkt_sync_forward(decoder) >= 0);
	text[0] = '\0';
	while (pt_pkt_next(decoder, &packet, sizeof(packet)) >= 0 && len < sizeof(text) - 100)
		len += (size_t)packet_text(&packet, timing, text + len, sizeof(text) - len);
	pt_pkt_free_decoder(decoder);
	if (len)
		text[len - 1] = '\0';
	return text;
}

#define PSB "psb mode.tsx psbend "

TEST(test_start_and_stop)
{
	struct fixture f;

	fixture_init(&f, RING);
	encoder_enable(&f.encoder, T0, main_ip);
	encoder_disable(&f.encoder, T0 + 10);
	encoder_enable(&f.encoder, T0 + 20, main_ip + 2);
	encoder_disable_async(&f.encoder, T0 + 30, main_ip + 4);
	assert_string_equal(packets(&f, false),
			    PSB "mode.exec pge/3:555555555000 pgd pge/1:5002 fup/1:5004 pgd");
	encoder_release(&f.encoder);
}

TEST(test_ip_compression)
{
	struct fixture f;

	fixture_init(&f, RING);
	encoder_enable(&f.encoder, T0, main_ip);
	encoder_indirect(&f.encoder, T0, main_ip + 0x123);
	encoder_indirect(&f.encoder, T0, 0x555555666000);
	encoder_indirect(&f.encoder, T0, lib_ip);
	encoder_indirect(&f.encoder, T0, 0xffffffffff600000); /* vsyscall: sign-extended */
	encoder_indirect(&f.encoder, T0, 0x00ffffffffffe000); /* 57-bit address space: full */
	assert_string_equal(packets(&f, false),
			    PSB "mode.exec pge/3:555555555000 tip/1:5123 tip/2:55666000 tip/3:7ffff7dd0000 "
				"tip/3:ffffff600000 tip/6:ffffffffffe000");
	encoder_release(&f.encoder);
}

TEST(test_tnt)
{
	struct fixture f;

	fixture_init(&f, RING);
	encoder_enable(&f.encoder, T0, main_ip);
	for (int i = 0; i < 8; i++)
		encoder_conditional(&f.encoder, T0, i % 3 == 0);
	encoder_indirect(&f.encoder, T0, lib_ip);
	assert_string_equal(packets(&f, false),
			    PSB "mode.exec pge/3:555555555000 tnt:TNNTNN tnt:TN tip/3:7ffff7dd0000");
	encoder_release(&f.encoder);
}

TEST(test_return_compression)
{
	struct fixture f;

	fixture_init(&f, RING);
	encoder_enable(&f.encoder, T0, main_ip);
	encoder_push_return(&f.encoder, main_ip + 5);
	encoder_push_return(&f.encoder, main_ip + 25);
	encoder_return(&f.encoder, T0, main_ip + 25); /* compressed */
	encoder_return(&f.encoder, T0, main_ip + 99); /* not where it was called from ... */
	encoder_return(&f.encoder, T0, main_ip + 5);  /* ... and nothing is trusted after that */
	assert_string_equal(packets(&f, false),
			    PSB "mode.exec pge/3:555555555000 tnt:T tip/1:5063 tip/1:5005");
	encoder_release(&f.encoder);
}

/* The processor's return stack has 64 entries: the oldest are forgotten, the newest 64 are compressed. */
TEST(test_return_stack_depth)
{
	struct fixture f;
	const char *text;

	fixture_init(&f, RING);
	encoder_enable(&f.encoder, T0, main_ip);
	for (uint64_t i = 0; i < 66; i++)
		encoder_push_return(&f.encoder, main_ip + i);
	for (uint64_t i = 66; i-- > 0;)
		encoder_return(&f.encoder, T0, main_ip + i);
	text = packets(&f, false);
	assert_non_null(strstr(text, "tnt:TTTT tip/1:5001 tip/1:5000"));
	encoder_release(&f.encoder);
}

TEST(test_psb)
{
	struct fixture f;

	fixture_init(&f, RING);
	encoder_enable(&f.encoder, T0, main_ip);
	encoder_push_return(&f.encoder, main_ip + 5);
	encoder_conditional(&f.encoder, T0, true);
	f.encoder.psb_wanted = true;
	encoder_boundary(&f.encoder, T0 + 100, main_ip + 2);
	encoder_return(&f.encoder, T0 + 200, main_ip + 5); /* the return stack was emptied */
	encoder_disable(&f.encoder, T0 + 300);
	encoder_enable(&f.encoder, T0 + 400, main_ip + 7); /* MODE.Exec is known since the PSB */
	assert_string_equal(packets(&f, false), PSB
			    "mode.exec pge/3:555555555000 tnt:T psb mode.tsx mode.exec fup/3:555555555002 "
			    "psbend tip/1:5005 pgd pge/1:5007");
	encoder_release(&f.encoder);
}

TEST(test_psb_period)
{
	struct fixture f;
	size_t psbs = 0;

	fixture_init(&f, 4096);
	encoder_enable(&f.encoder, T0, main_ip);
	for (uint64_t i = 0; i < 100000; i++) {
		encoder_indirect(&f.encoder, T0 + i * 50, i % 2 ? main_ip : lib_ip);
		encoder_boundary(&f.encoder, T0 + i * 50, i % 2 ? main_ip : lib_ip);
	}
	for (const uint8_t *at = f.encoder.ring.bytes, *end = at + 4096;
	     (at = memmem(at, (size_t)(end - at),
			  "\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82", 16));
	     at += 16)
		psbs++;
	assert_in_range(psbs, 6, 8);
	encoder_release(&f.encoder);
}

TEST(test_overflow)
{
	struct fixture f;

	fixture_init(&f, RING);
	encoder_enable(&f.encoder, T0, main_ip);
	encoder_conditional(&f.encoder, T0, true);
	encoder_overflow(&f.encoder, T0 + 50, main_ip + 8);
	encoder_disable(&f.encoder, T0 + 60);
	encoder_overflow(&f.encoder, T0 + 70, 0);
	encoder_enable(&f.encoder, T0 + 80, main_ip + 12);
	assert_string_equal(
		packets(&f, false),
		PSB "mode.exec pge/3:555555555000 tnt:T ovf fup/3:555555555008 pgd ovf pge/3:55555555500c");
	encoder_release(&f.encoder);
}

/*
 * The time that libipt tells after each of our branches is the time we said, whatever the pauses between
 * them.
 */
static void check_times(const uint64_t *pauses, size_t cnt)
{
	struct fixture f;
	struct pt_query_decoder *decoder;
	struct pt_config config;
	uint64_t tsc = T0, ip;

	fixture_init(&f, 1 << 20);
	encoder_enable(&f.encoder, tsc, main_ip);
	for (size_t i = 0; i < cnt; i++) {
		tsc += pauses[i];
		encoder_boundary(&f.encoder, tsc, i ? lib_ip + i - 1 : main_ip);
		encoder_indirect(&f.encoder, tsc, lib_ip + i);
	}
	encoder_disable(&f.encoder, tsc);
	pt_config_init(&config);
	config.begin = f.encoder.ring.bytes;
	config.end = config.begin + f.encoder.ring.head;
	config.mtc_freq = 8;
	config.nom_freq = 10;
	config.cpuid_0x15_eax = 1;
	config.cpuid_0x15_ebx = 400;
	decoder = pt_qry_alloc_decoder(&config);
	assert_non_null(decoder);
	assert_true(pt_qry_sync_forward(decoder, &ip) >= 0);
	tsc = T0;
	for (size_t i = 0; i < cnt; i++) {
		struct pt_event event;
		uint64_t time;
		uint32_t lost_mtc, lost_cyc;
		int status = 0;

		while (pt_qry_event(decoder, &event, sizeof(event)) >= 0)
			;
		status = pt_qry_indirect_branch(decoder, &ip);
		assert_true(status >= 0);
		assert_int_equal(ip, lib_ip + i);
		assert_true(pt_qry_time(decoder, &time, &lost_mtc, &lost_cyc) >= 0);
		tsc += pauses[i];
		assert_int_equal(time, tsc);
	}
	pt_qry_free_decoder(decoder);
	encoder_release(&f.encoder);
}

TEST(test_times)
{
	static const uint64_t lengths[] = {1,	     30,       31,    32,     400,	5000,	    102400,
					   102399,   20000000, 7,     99999,  26214400, 3000000000, 12,
					   60264069, 200796,   48713, 156087, 102400,	5};
	enum { MANY = 5000 };
	uint64_t pauses[MANY], random = 1;

	check_times(lengths, sizeof(lengths) / sizeof(lengths[0]));
	for (size_t i = 0; i < MANY; i++) {
		random = random * 6364136223846793005 + 1442695040888963407;
		pauses[i] = 1 + (random >> 33) % (random >> 60 ? 150000 : 40000000);
	}
	check_times(pauses, MANY);
}

TEST(test_first_tsc)
{
	struct fixture f;

	fixture_init(&f, RING);
	encoder_enable(&f.encoder, 0x12345678, main_ip);
	assert_int_equal(trace_first_tsc(f.encoder.ring.bytes, f.encoder.ring.head, 5), 0x12345678);
	assert_int_equal(trace_first_tsc(f.encoder.ring.bytes, 20, 5), 5);
	assert_int_equal(trace_first_tsc(f.encoder.ring.bytes, 0, 0), 1);
	encoder_release(&f.encoder);
}

/* Many at once are as one by one. */
TEST(test_conditionals)
{
	const uint64_t taken = 0xd5b3a1c97e402f6bull;

	for (unsigned int cnt = 1; cnt <= 64; cnt++) {
		struct fixture one, many;

		fixture_init(&one, RING);
		fixture_init(&many, RING);
		encoder_enable(&one.encoder, T0, main_ip);
		encoder_enable(&many.encoder, T0, main_ip);
		encoder_conditional(&one.encoder, T0 + 5, true);
		encoder_conditional(&many.encoder, T0 + 5, true);
		for (unsigned int i = cnt; i--;)
			encoder_conditional(&one.encoder, T0 + 10, taken >> i & 1);
		encoder_conditionals(&many.encoder, T0 + 10, taken, cnt);
		encoder_disable(&one.encoder, T0 + 20);
		encoder_disable(&many.encoder, T0 + 20);
		assert_int_equal(one.encoder.ring.head, many.encoder.ring.head);
		assert_memory_equal(one.encoder.ring.bytes, many.encoder.ring.bytes, one.encoder.ring.head);
		encoder_release(&one.encoder);
		encoder_release(&many.encoder);
	}
}

/* A place that no packet tells of has a time; the branch before it keeps its own; twice the same is once. */
TEST(test_positions)
{
	struct fixture f;

	fixture_init(&f, RING);
	encoder_enable(&f.encoder, T0, main_ip);
	encoder_position(&f.encoder, T0 + 10, main_ip + 1);
	encoder_position(&f.encoder, T0 + 20, main_ip + 1);
	encoder_indirect(&f.encoder, T0 + 30, main_ip + 2);
	encoder_position(&f.encoder, T0 + 40, main_ip + 3);
	encoder_conditional(&f.encoder, T0 + 50, true);
	encoder_position(&f.encoder, T0 + 60, main_ip + 3);
	assert_string_equal(
		packets(&f, true),
		"psb tsc tma cbr mode.tsx psbend mode.exec pge/3:555555555000 "
		"cyc mode.tsx fup/1:5001 cyc tip/1:5002 mode.tsx fup/1:5002 cyc mode.tsx fup/1:5003 "
		"cyc tnt:T cyc mode.tsx fup/1:5003");
	encoder_release(&f.encoder);
}

TEST_MAIN(NULL, NULL)
