/**
 * Texts of the reference by name of the member, or by `Subject.member` where it means something of its own there. A subject is a noun
 * (`Invoice`), the operation that takes the body (`createPayment`), or the member that the object stands in (`auto_topup`).
 */
export type Descriptions = Readonly<Record<string, string>>;
