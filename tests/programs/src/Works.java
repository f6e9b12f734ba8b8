// SPDX-License-Identifier: BSD-2-Clause
// What the JVM makes code of: recursion, maps in several threads, exceptions that begin as faults, garbage.
import java.util.*;
import java.util.concurrent.*;
public class Works {
  static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
  public static void main(String[] args) throws Exception {
    System.out.println(fib(27));
    ExecutorService pool = Executors.newFixedThreadPool(4);
    List<Future<Long>> all = new ArrayList<>();
    for (int i = 0; i < 16; i++) {
      final int n = i;
      all.add(pool.submit(() -> {
        Map<String, Integer> map = new HashMap<>();
        for (int j = 0; j < 20000; j++) map.merge("k" + (j * (n + 7) % 1013), 1, Integer::sum);
        long sum = 0;
        for (int v : map.values()) sum += (long) v * v;
        return sum;
      }));
    }
    for (Future<Long> f : all) System.out.println(f.get());
    pool.shutdown();
    try { Object o = null; o.toString(); } catch (NullPointerException e) { System.out.println("npe"); }
    try { int[] a = new int[1]; a[fib(5)] = 1; } catch (ArrayIndexOutOfBoundsException e) { System.out.println("bounds"); }
    try { deep(0); } catch (StackOverflowError e) { System.out.println("overflow"); }
    for (int i = 0; i < 20; i++) { byte[][] b = new byte[100][]; for (int j = 0; j < 100; j++) b[j] = new byte[10000]; }
    System.gc();
    System.out.println("done");
  }
  static int deep(int n) { return deep(n + 1) + 1; }
}
