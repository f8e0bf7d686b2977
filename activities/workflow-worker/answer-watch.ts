/** What a watch does about a thread that does not answer. */
export interface Silence {
  /** Ends what the thread is in, and resolves when the thread has confirmed it. */
  interrupt(): Promise<void>;
  /** What a question fails with that has no answer after an interruption. */
  unanswered(question: string): Error;
  /** What all questions fail with when the thread confirms nothing. */
  lost(question: string): Error;
}

interface Question {
  readonly text: string;
  fail(error: Error): void;
}

/** A thread that was asked and said nothing for so many ticks is stuck, and for twice as many is lost. */
const patienceTicks = 5;

/**
 * Sees that a thread which is asked answers anything at all. `tick` is called once a second: ticks are counted and not time, because
 * a process that was suspended wakes to one of them, and has read what was answered by the next.
 */
export class AnswerWatch {
  readonly #silence: Silence;
  readonly #asked = new Set<Question>();
  #silentTicks = 0;
  /** What had been asked when an interruption was confirmed: the one it ended is among them, however late it came. */
  #suspects: readonly Question[] = [];

  constructor(silence: Silence) {
    this.#silence = silence;
  }

  /** Settles like `answer`, or fails when the thread is silent before. `text` says what is asked, for people. */
  watch<T>(text: string, answer: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const question = { text, fail: reject };
      this.#asked.add(question);
      const heard = () => {
        this.#asked.delete(question);
        this.#silentTicks = 0;
      };
      answer.finally(heard).then(resolve, reject);
    });
  }

  tick(): void {
    this.#fail(this.#suspects, this.#silence.unanswered);
    this.#suspects = [];
    this.#silentTicks = this.#asked.size === 0 ? 0 : this.#silentTicks + 1;
    if (this.#silentTicks === patienceTicks) this.#interrupt();
    if (this.#silentTicks === 2 * patienceTicks) this.#fail([...this.#asked], this.#silence.lost);
  }

  #interrupt(): void {
    const confirmed = () => {
      this.#suspects = [...this.#asked];
    };
    // One that cannot be interrupted is lost with the ticks that follow.
    this.#silence.interrupt().then(confirmed, () => undefined);
  }

  #fail(questions: readonly Question[], reason: (question: string) => Error): void {
    for (const question of questions) {
      if (this.#asked.delete(question)) question.fail(reason(question.text));
    }
  }
}
