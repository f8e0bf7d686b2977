import { aggregatesSuite } from './aggregates.suite.ts';
import { suiteEngine } from './engine.ts';
import { identitySuite } from './identity.suite.ts';

const engine = await suiteEngine('postgres');
aggregatesSuite(engine);
identitySuite(engine);
