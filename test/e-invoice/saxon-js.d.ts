declare module 'saxon-js' {
  const SaxonJS: {
    transform(options: { stylesheetText: string; sourceText: string; destination: 'serialized' }): {
      principalResult: string;
    };
  };
  export default SaxonJS;
}
