// SPDX-License-Identifier: BSD-2-Clause
// Four threads work until the input ends, and know what they must get: "right" or "wrong".
import java.util.concurrent.atomic.AtomicInteger;

public class Busy {
	static volatile boolean over;

	static int work(int n) {
		int sum = 0;
		for (int i = 0; i < n; i++)
			sum += Integer.toString(i).hashCode() % 7;
		return sum;
	}

	public static void main(String[] args) throws Exception {
		int right = work(1000);
		AtomicInteger rounds = new AtomicInteger(), wrong = new AtomicInteger();
		Thread[] threads = new Thread[4];

		for (int i = 0; i < threads.length; i++) {
			threads[i] = new Thread(() -> {
				while (!over) {
					if (work(1000) != right)
						wrong.incrementAndGet();
					rounds.incrementAndGet();
				}
			});
			threads[i].start();
		}
		System.out.println("ready");
		while (System.in.read() >= 0)
			;
		over = true;
		for (Thread thread : threads)
			thread.join();
		System.out.println(rounds.get() > 0 && wrong.get() == 0 ? "right" : "wrong");
	}
}
